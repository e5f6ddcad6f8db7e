"""Gedik et al., joins of several streams that harvest their windows."""
