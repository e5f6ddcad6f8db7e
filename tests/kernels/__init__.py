"""Tests of the compiled loops."""
