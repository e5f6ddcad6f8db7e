"""Numbered versions of a table that is read again and again, as files of a folder."""
