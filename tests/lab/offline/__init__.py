"""Tests of the yardsticks on archived streams."""
