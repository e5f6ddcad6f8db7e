"""Scores that were shed lately: they determine how likely a resident was to stay."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.thresholds import Stacks, push, replay
from shedjoin.types import FloatArray, Grid, IntArray

Noted = list[list[tuple[int, float]]]
"""By pool: the number of the arrival for which a row was shed, and the score of that
row."""


class Thresholds:
    """The scores that were shed, by pool, as long as they are needed.

    Parameters
    ----------
    pools : int
        Number of pools.
    noted : list, optional
        Scores that were stored before.
    """

    def __init__(self, pools: int, noted: Noted | None = None) -> None:
        self._noted: Noted = noted or [[] for _ in range(pools)]

    def bars(
        self,
        zero: int,
        raised: Grid,
        row: IntArray,
        number: IntArray,
        pool: IntArray,
    ) -> FloatArray:
        """Highest score that was shed between a resident's arrival and its match.

        ``raised`` is the highest score that each arrival of a block displaced, by pool.
        The block begins at the arrival number ``zero``. For each match, ``row`` is the
        position of its arrival in the block, and ``number`` and ``pool`` are the
        arrival number and the pool of its resident.
        """
        order = np.argsort(row, kind="stable")
        found = np.empty(row.size)
        stacks = self._stacks(raised.shape[1])
        replay(zero, raised, row[order], number[order], pool[order], stacks, found)
        bars = np.empty(row.size)
        bars[order] = found
        return bars

    def advance(self, zero: int, raised: Grid, oldest: int) -> None:
        """Add the scores that were shed in a block.

        ``oldest`` is the lowest arrival number of any resident. Scores that were shed
        before this arrival are forgotten.
        """
        stacks = self._stacks(raised.shape[1])
        nothing = np.zeros(0, np.int64)
        replay(zero, raised, nothing, nothing, nothing, stacks, np.zeros(0))
        self._keep(stacks, oldest)

    def note(self, pool: int, number: int, score: float) -> None:
        """Add the score of one more row that was shed."""
        stacks = self._stacks(1)
        push(pool, number, score, stacks)
        self._keep(stacks, 0)

    @property
    def noted(self) -> Noted:
        """The scores that have to be stored."""
        return self._noted

    def _stacks(self, more: int) -> Stacks:
        room = max(map(len, self._noted)) + more
        shape = len(self._noted), room
        number, score = np.zeros(shape, np.int64), np.zeros(shape)
        for pool, noted in enumerate(self._noted):
            if noted:
                number[pool, : len(noted)], score[pool, : len(noted)] = zip(
                    *noted, strict=True
                )
        height = np.array([len(noted) for noted in self._noted])
        return Stacks(number, score, height)

    def _keep(self, stacks: Stacks, oldest: int) -> None:
        number, score = stacks.number, stacks.score
        self._noted = []
        for pool, height in enumerate(stacks.height.tolist()):
            first = int(np.searchsorted(number[pool, :height], oldest))
            part = slice(first, height)
            pairs = zip(number[pool, part].tolist(), score[pool, part], strict=True)
            self._noted.append([(at, float(value)) for at, value in pairs])
