"""Tests of the joins without an engine."""
