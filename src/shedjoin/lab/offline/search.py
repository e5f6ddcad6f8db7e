"""Searches for the best use of one memory, as a whole or in pieces."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shedjoin.lab.kernels.memory_states import Gains
from shedjoin.lab.offline.memory_states import cuts, most_gained
from shedjoin.types import IntArray


class Search(NamedTuple):
    """Rows that could be held in one memory: the arguments of ``most_gained``."""

    leave: IntArray
    gains: Gains
    capacity: int
    ranked: bool

    def leaves(self) -> IntArray:
        """Step at which each row should be dropped, so that most is gained."""
        return most_gained(self.leave, self.gains, self.capacity, ranked=self.ranked)

    def pieces(self, rows: int) -> list[Search]:
        """Consecutive searches of at least ``rows`` rows each.

        They begin at cuts, where the memory is empty in any case. So together they find
        the same as the whole search. The last search may have fewer rows. Without cuts,
        there is only one search.
        """
        if not self.leave.size:
            return []
        bounds = [0]
        for cut in cuts(self.leave):
            if cut - bounds[-1] >= rows:
                bounds.append(cut)
        bounds.append(self.leave.size)
        return [self._piece(start, end) for start, end in pairwise(bounds)]

    def _piece(self, start: int, end: int) -> Search:
        first, last = self.gains.start[start], self.gains.start[end]
        gains = Gains(
            self.gains.start[start : end + 1] - first,
            self.gains.step[first:last] - start,
            self.gains.weight[first:last],
        )
        return self._replace(leave=self.leave[start:end] - start, gains=gains)


def joined(pieces: list[IntArray]) -> IntArray:
    """Combine the results of consecutive searches into that of the whole search."""
    starts = np.cumsum([0, *(piece.size for piece in pieces)])
    moved = [piece + start for piece, start in zip(pieces, starts, strict=False)]
    return np.concatenate([np.zeros(0, np.int64), *moved])
