"""The exact join: nobody leaves before its time."""
