"""Tests of predicted recall and of dividing memory."""
