"""Tests of the shape of the code: imports and sizes."""
