"""Tests of the join without an engine."""
