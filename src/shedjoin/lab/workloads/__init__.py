"""Streams as papers describe them, made up."""
