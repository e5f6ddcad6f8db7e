"""Tests of the local runner."""
