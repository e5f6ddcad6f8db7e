"""Mean sizes of rows in each cell (a group of keys), to divide a budget in bytes."""

from __future__ import annotations

import numpy as np

from shedjoin.columns.census import Counts
from shedjoin.types import IntArray

_MOST = 62
"""After this number of halvings, every count is zero."""


class CellSizes:
    """Counts rows and their bytes by stream and cell, from each census.

    All counts are halved after each window, so that recent rows count more.

    Parameters
    ----------
    words : array
        Array that holds the counts: ``2 * streams * cells`` integers.
    streams, cells : int
        Number of streams, and of cells.
    """

    def __init__(self, words: IntArray, streams: int, cells: int) -> None:
        self._rows, self._bytes = words.reshape(2, streams, cells)

    @staticmethod
    def words(streams: int, cells: int) -> int:
        """Number of integers that the counts take."""
        return 2 * streams * cells

    def age(self, windows: int) -> None:
        """Halve all counts once for each window that has passed."""
        halvings = min(windows, _MOST)
        self._rows >>= halvings
        self._bytes >>= halvings

    def add(self, counts: Counts) -> None:
        """Add a census, unless it has no bytes.

        A census has no bytes if the budget was in rows when the census was taken.
        """
        if not counts.size.any():
            return
        at = counts.stream, counts.cell
        np.add.at(self._rows, at, counts.number)
        np.add.at(self._bytes, at, counts.size)

    def of(self, held: IntArray, more: int) -> IntArray:
        """Bytes of ``held`` rows by stream and cell.

        Each row takes ``more`` bytes in addition to its columns. If no row of a cell
        was counted lately, the mean size of all rows of the stream is used.
        """
        rows, size = self._rows, self._bytes
        mean = size.sum(axis=1) // np.maximum(rows.sum(axis=1), 1)
        own = np.where(rows > 0, size // np.maximum(rows, 1), mean[:, None])
        found: IntArray = held * (own + more)
        return found
