"""Sizes of rows by the cell of their key, to share a budget in bytes."""

from __future__ import annotations

import numpy as np

from shedjoin.columns.census import Counts
from shedjoin.types import IntArray

_MOST = 62
"""Halvings after which every count is zero."""


class CellSizes:
    """Bytes of rows by stream and cell, learned from the census.

    All counts are halved after each window.

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

        It has none if the budget was in rows when it was counted.
        """
        if not counts.size.any():
            return
        at = counts.stream, counts.cell
        np.add.at(self._rows, at, counts.number)
        np.add.at(self._bytes, at, counts.size)

    def of(self, held: IntArray, more: int) -> IntArray:
        """Bytes of ``held`` rows, each with ``more`` bytes beside its columns.

        If too few rows of a cell have come, its rows are taken to be of mean size.
        """
        rows, size = self._rows, self._bytes
        mean = size.sum(axis=1) // np.maximum(rows.sum(axis=1), 1)
        own = np.where(rows > 0, size // np.maximum(rows, 1), mean[:, None])
        found: IntArray = held * (own + more)
        return found
