"""The exact join: rows stay until they expire."""
