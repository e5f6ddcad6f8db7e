"""Numbered versions of a polled table, as files of a folder."""
