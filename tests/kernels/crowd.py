"""Residents of a pool and who may leave it, in a table and as plain Python."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.candidates import (
    DATED,
    POOL,
    RANKED,
    Candidates,
    next_to_leave,
    offer,
)
from shedjoin.kernels.slots import NOBODY, vacate

from .tables import empty_table, moved_in

SLOTS = 12


class Crowd:
    """Residents of one pool: in a table, and as plain Python by arrival number."""

    def __init__(self, tie: int, pool: int, room: int = 64) -> None:
        self.tie, self.pool = tie, pool
        self.table = empty_table(SLOTS, 2)
        self.slot: dict[int, int] = {}
        self.score: dict[int, float] = {}
        self.candidates = Candidates(
            pools=np.zeros(2, POOL),
            queue=np.zeros((2, SLOTS), RANKED),
            heap=np.zeros((2, room), RANKED),
            deferred=np.zeros((2, room), DATED),
            expiring=np.zeros((2, SLOTS + 1), DATED),
            expected=np.zeros((2, room), RANKED),
        )
        self.facts = self.candidates.pools[pool]
        self.fill(0)

    def rank(self, number: int) -> tuple[float, int]:
        return self.score[number], self.tie * number

    def fill(self, count: int) -> None:
        """Queue so many of the residents, the next to leave first."""
        chosen = sorted(self.slot, key=self.rank)[:count]
        self.candidates.pools[self.pool] = 0
        self.facts["queue_end"] = len(chosen)
        self.facts["bar_score"] = -np.inf
        for place, number in enumerate(chosen):
            entry = self.score[number], number, self.slot[number]
            self.candidates.queue[self.pool, place] = entry
            self.facts["bar_score"], self.facts["bar_number"] = entry[:2]

    def come(self, score: float) -> int:
        """Make a row a resident; its number is returned."""
        row = moved_in(self.table, 0, 7, 0)
        self.slot[row.number], self.score[row.number] = row.slot, score
        self.table.score[row.slot] = score
        return row.number

    def offer(self, number: int) -> None:
        score = self.score[number]
        offer(self.slot[number], number, score, self.tie, self.pool, self.candidates)

    def leave(self, number: int) -> None:
        vacate(self.slot.pop(number), 0, self.table)

    def next(self) -> int:
        """Number of the next to leave, or NOBODY."""
        args = self.pool, self.table, self.candidates
        return self.number_at(next_to_leave(self.tie, *args))

    def number_at(self, slot: int) -> int:
        return NOBODY if slot == NOBODY else int(self.table.number[slot])
