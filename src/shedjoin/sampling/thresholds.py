"""What had to leave lately: from it follows how likely a resident was to stay."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.thresholds import Stacks, push, replay
from shedjoin.types import FloatArray, Grid, IntArray

Noted = list[list[tuple[int, float]]]
"""Per pool: the arrival because of which a row left, and the row's score."""


class Thresholds:
    """Scores that left, per pool, as far as they still matter.

    Parameters
    ----------
    pools : int
        How many pools there are.
    noted : list, optional
        What was noted before.
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
        """Highest score that left between a resident's arrival and its match.

        ``raised`` is what left by arrival of a block that begins at number ``zero``;
        matches are given by arrival in the block and the resident's number.
        """
        order = np.argsort(row, kind="stable")
        found = np.empty(row.size)
        stacks = self._stacks(raised.shape[1])
        replay(zero, raised, row[order], number[order], pool[order], stacks, found)
        bars = np.empty(row.size)
        bars[order] = found
        return bars

    def advance(self, zero: int, raised: Grid, oldest: int) -> None:
        """Take a block in; who came before number ``oldest`` is gone."""
        stacks = self._stacks(raised.shape[1])
        nothing = np.zeros(0, np.int64)
        replay(zero, raised, nothing, nothing, nothing, stacks, np.zeros(0))
        self._keep(stacks, oldest)

    def note(self, pool: int, number: int, score: float) -> None:
        """Take in one more row that had to leave."""
        stacks = self._stacks(1)
        push(pool, number, score, stacks)
        self._keep(stacks, 0)

    @property
    def noted(self) -> Noted:
        """All that has to be stored."""
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
