"""Segments: rows of one stream that are written and removed together."""

from __future__ import annotations

from typing import NamedTuple


class Segment(NamedTuple):
    """Rows that are stored together, under a number that is not used again."""

    id: int
    stream: int
    rows: int
    bytes: int
