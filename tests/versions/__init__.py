"""Tests of the versions of a table."""
