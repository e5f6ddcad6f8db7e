"""Tests of the join through a relation."""
