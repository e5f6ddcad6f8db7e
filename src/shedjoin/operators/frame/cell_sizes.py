"""How large rows are, by the cell of their key: for a budget in bytes over shards."""

from __future__ import annotations

import numpy as np

from shedjoin.columns.census import Counts
from shedjoin.types import IntArray

_MOST = 62
"""Halvings after which nothing is left of any count."""


class CellSizes:
    """Bytes of rows by stream and cell, learned from the census.

    Rows of the window before the last one count half as much, and so on.

    Parameters
    ----------
    words : array
        Where they are kept: ``2 * streams * cells`` whole numbers.
    streams, cells : int
        How many there are.
    """

    def __init__(self, words: IntArray, streams: int, cells: int) -> None:
        self._rows, self._bytes = words.reshape(2, streams, cells)

    @staticmethod
    def words(streams: int, cells: int) -> int:
        """How many whole numbers it takes."""
        return 2 * streams * cells

    def age(self, windows: int) -> None:
        """Let all rows so far count less: so many windows have passed."""
        halvings = min(windows, _MOST)
        self._rows >>= halvings
        self._bytes >>= halvings

    def add(self, counts: Counts) -> None:
        """Take a census in, unless it is one without bytes.

        The budget was in rows when it was counted.
        """
        if not counts.size.any():
            return
        at = counts.stream, counts.cell
        np.add.at(self._rows, at, counts.number)
        np.add.at(self._bytes, at, counts.size)

    def of(self, held: IntArray, more: int) -> IntArray:
        """Bytes of so many rows, each with ``more`` beside its columns.

        Rows of a cell of which too few have come are taken to be as large as others.
        """
        rows, size = self._rows, self._bytes
        mean = size.sum(axis=1) // np.maximum(rows.sum(axis=1), 1)
        own = np.where(rows > 0, size // np.maximum(rows, 1), mean[:, None])
        found: IntArray = held * (own + more)
        return found
