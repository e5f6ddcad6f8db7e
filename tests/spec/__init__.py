"""Tests of what a user says."""
