"""Requests of users, checked in the same way for both engines."""
