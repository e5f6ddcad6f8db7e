"""What no query needs: optima, planners and formulas of the papers, yardsticks."""
