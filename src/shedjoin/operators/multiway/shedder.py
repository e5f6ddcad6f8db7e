"""Evicts the residents with the lowest scores, to stay within a memory budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shedjoin.kernels.ranges import KEY, PLACE, TIME
from shedjoin.models.words import reals
from shedjoin.operators.frame import answers
from shedjoin.operators.frame.limits import usable_of
from shedjoin.operators.multiway.bounded_store import BoundedStore
from shedjoin.operators.multiway.counted import counted_keys
from shedjoin.operators.multiway.layout import NUMBER, SIZE, WORTH
from shedjoin.operators.multiway.learning import Learning
from shedjoin.policies.residents import Residents
from shedjoin.spec.shedding import Shedding
from shedjoin.types import BoolArray, IntArray, IntGrid

_PARTS = 8
"""A block of arrivals may be larger than the free room by 1 / 8 of the budget."""
_LEAST_ROWS, _LEAST_BYTES = 1 << 8, 1 << 16
"""If 1 / 8 of the budget is less than this, a block may exceed the free room by this
instead. A shard may hold that much more than its budget until rows are shed."""
NOBODY = np.iinfo(np.int64).max


class Left(NamedTuple):
    """Rows that were shed, as columns."""

    stream: IntArray
    number: IntArray
    time: IntArray

    @staticmethod
    def nobody() -> Left:
        """No rows."""
        return Left(*(np.zeros(0, np.int64) for _ in Left._fields))


class Shedder:
    """Keeps the residents of one shard within the budget.

    Parameters
    ----------
    store : BoundedStore
        The residents.
    shedding : Shedding
        Budget and policy.
    share : int
        Rows or bytes that the shard may hold.
    learning : Learning
        Models and clock of the shard.
    """

    def __init__(
        self, store: BoundedStore, shedding: Shedding, share: int, learning: Learning
    ) -> None:
        budget = shedding.budget
        self._store = store
        self._shedding = shedding
        self._learning = learning
        self._in_bytes = budget.in_bytes
        self._pooled = budget.split is None
        self.limit(share)

    def limit(self, share: int) -> None:
        """Use this share from now on; :meth:`shed` then sheds the surplus."""
        self._share = share
        budget, streams = self._shedding.budget, len(self._store.streams)
        whole = usable_of(budget, share)
        pools = budget.by_pool(whole, streams)
        self._capacity = np.array(pools[:1] if self._pooled else pools)
        least = _LEAST_BYTES if self._in_bytes else _LEAST_ROWS
        self._block = max(whole // _PARTS, least)

    def blocks(self, size: IntArray) -> Iterator[slice]:
        """Yield blocks of arrivals that fill the free room and exceed it a little.

        Rows may be shed between two blocks. So the end of a block is computed when the
        block is requested.
        """
        filled, start = np.cumsum(size), 0
        while start < size.size:
            room = max(0, int((self._capacity - self._used()).min()))
            most = (filled[start - 1] if start else 0) + room + self._block
            end = max(start + 1, int(np.searchsorted(filled, most, side="right")))
            yield slice(start, end)
            start = end

    def sizes(self, columns: IntGrid) -> IntArray:
        """Size that each row takes from the budget."""
        return columns[SIZE] if self._in_bytes else np.ones(columns.shape[1], np.int64)

    def shed(self) -> Left:
        """Shed the residents that exceed the budget."""
        return self._shed_to(self._capacity)

    def fit(self) -> Left:
        """Shed the surplus, rewrite sparse segments, and fit a budget in bytes.

        If the state still takes too many bytes, more residents are shed.
        """
        store, left = self._store, self.shed()
        store.tidy()
        while self._in_bytes and store.nbytes > self._share:
            store.shrink(self._share)
            if store.nbytes > self._share:
                more = self._shed_to(self._used() * 7 // 8)
                left = Left(*map(np.concatenate, zip(left, more, strict=True)))
        return left

    def _used(self) -> IntArray:
        """Size of the residents of each pool, in rows or bytes."""
        each = [
            int(windows.column(SIZE).sum()) if self._in_bytes else windows.count
            for windows in self._store.windows
        ]
        return np.array([sum(each)] if self._pooled else each)

    def _shed_to(self, capacity: IntArray) -> Left:
        surplus = self._used() - capacity
        if (surplus <= 0).all():
            return Left.nobody()
        grids = [windows.rows() for windows in self._store.windows]
        rows = self._residents(grids)
        policy = self._shedding.policy
        score = answers.scores(policy, "score", policy.score(rows), rows.key.size)
        size = rows.size
        pool = np.zeros_like(rows.stream) if self._pooled else rows.stream
        # A row larger than its pool is shed first. Otherwise, all other rows would be
        # shed for it.
        gone = size > self._capacity[pool]
        surplus -= np.bincount(pool[gone], size[gone], surplus.size).astype(np.int64)
        # Rows whose window is over by the clock are shed first. Only an arrival that is
        # out of order could match them.
        order = np.lexsort(
            (self._shedding.tie * rows.number, score, rows.remaining_us >= 0)
        )
        order = order[~gone[order]]
        for number, too_much in enumerate(surplus.tolist()):
            if too_much > 0:
                mine = order[pool[order] == number]
                count = int(np.searchsorted(np.cumsum(size[mine]), too_much)) + 1
                gone[mine[:count]] = True
        self._evict(grids, gone)
        return Left(rows.stream[gone], rows.number[gone], rows.time[gone])

    def _evict(self, grids: list[IntGrid], gone: BoolArray) -> None:
        cuts = np.cumsum([grid.shape[1] for grid in grids])[:-1]
        for stream, own in enumerate(np.split(gone, cuts)):
            if own.any():
                self._store.evict(stream, own, grids[stream][PLACE])

    def _residents(self, grids: list[IntGrid]) -> Residents:
        """All residents in the form that a policy reads."""
        spec, learns = self._store.spec, "models" in self._shedding.policy.reads
        layouts = self._store.layouts
        keys = [
            counted_keys(spec, stream, layouts[stream], grid) if learns else grid[KEY]
            for stream, grid in enumerate(grids)
        ]
        rows = [grid.shape[1] for grid in grids]
        return Residents(
            stream=np.repeat(np.arange(len(grids)), rows),
            key=np.concatenate(keys),
            time=np.concatenate([grid[TIME] for grid in grids]),
            number=np.concatenate([grid[NUMBER] for grid in grids]),
            importance=reals(np.concatenate([grid[WORTH] for grid in grids])),
            size=np.concatenate([self.sizes(grid) for grid in grids]),
            now_us=self._learning.clock_us,
            keep_us=spec.keeps_us,
            learned=self._learning.models if learns else None,
            asked=type(self._shedding.policy).__name__,
        )
