"""Tests of samples and estimates."""
