"""Tests of the measures of quality."""
