"""Tests of synthetic streams."""
