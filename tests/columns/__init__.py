"""Tests of batches and their columns."""
