"""One direction of a join of several streams: what its arrivals yield and cost."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from math import inf
from typing import NamedTuple

_ALIKE = 1 - 1e-9
"""Windows that add as much as others, but for rounding, are taken with them."""
_ROUNDS = 50
"""Far more than the search for the best ratio takes: it stops when nothing changes."""


class Yield(NamedTuple):
    """Results and work per time unit."""

    results: float
    work: float


_NO_STEP = Yield(0.0, inf)


class Direction(NamedTuple):
    """How arrivals of one stream are joined, hop by hop.

    ``rows[j]`` are the rows of one basic window of hop j, ``growth[j][c]`` the partial
    results after the hop for each one before it, with the c best of its basic windows,
    and ``ranked[j]`` its basic windows, the best first. They are plain numbers, not
    arrays: searches read them one at a time.

    Examples
    --------
    >>> direction = Direction(10.0, (50.0,), ((0.0, 1.5, 2.0),), ((1, 0),), 0.0)
    >>> direction.predicted((1,))
    Yield(results=15.0, work=500.0)
    >>> direction.steps((1,))
    [Yield(results=5.0, work=500.0)]
    """

    rate: float
    rows: tuple[float, ...]
    growth: tuple[tuple[float, ...], ...]
    ranked: tuple[tuple[int, ...], ...]
    result_cost: float

    @property
    def whole(self) -> tuple[int, ...]:
        """All basic windows of each hop."""
        return tuple(len(ranked) for ranked in self.ranked)

    def predicted(self, counts: Sequence[int]) -> Yield:
        """Results and work with so many basic windows of each hop."""
        partial, work = self.rate, 0.0
        for rows, growth, count in zip(self.rows, self.growth, counts, strict=True):
            work += partial * count * rows
            partial *= growth[count]
        return Yield(partial, work + partial * self.result_cost)

    def steps(self, counts: Sequence[int], by: int = 1) -> list[Yield]:
        """What one more basic window adds, hop by hop; with ``by=-1``, one less saves.

        A hop without one more, or with only one left, has no results and endless work.
        """
        results, work = 1.0, self.result_cost  # of one partial result, from the end
        tails = []
        for rows, growth, count in zip(
            self.rows[::-1], self.growth[::-1], counts[::-1], strict=True
        ):
            tails.append((results, work))
            results *= growth[count]
            work = count * rows + growth[count] * work
        found, partial = [], self.rate
        for rows, growth, count in zip(self.rows, self.growth, counts, strict=True):
            results, work = tails.pop()
            if 0 < count + by < len(growth):
                more = partial * by * (growth[count + by] - growth[count])
                found.append(Yield(more * results, partial * rows + more * work))
            else:
                found.append(_NO_STEP)
            partial *= growth[count]
        return found

    def best_ratio(self) -> tuple[int, ...]:
        """Counts with the most results per work; all 0 where there are no results.

        Dinkelbach's method: counts that are best at a price of work have a ratio, which
        is the next price. Seen from the last hop, one partial result has a worth at
        that price, whatever came before, so each hop is settled by itself.
        """
        counts = (1,) * len(self.rows)
        results, work = self.predicted(counts)
        if not (results > 0 and work > 0):  # work of next to nothing may round to 0
            return (0,) * len(self.rows)
        for _ in range(_ROUNDS):
            better = self.best_at(results / work)
            next_results, next_work = self.predicted(better)
            if not next_results * work > results * next_work:
                break
            counts, results, work = better, next_results, next_work
        return counts

    def worthwhile(self, price: float) -> Yield:
        """Results and work with the counts that are best at a price of work."""
        found = self.predicted(self.best_at(price))
        return found if found.results > price * found.work else Yield(0.0, 0.0)

    def best_at(self, price: float) -> tuple[int, ...]:
        """Counts from 1 up with the most results, less work at this price."""
        worth = 1.0 - price * self.result_cost
        counts = []
        for rows, growth in zip(
            reversed(self.rows), reversed(self.growth), strict=True
        ):
            count = 1
            if worth > 0:
                corners, falls = _corners(growth)
                count = corners[bisect_left(falls, -price * rows / worth)]
            worth = growth[count] * worth - price * count * rows
            counts.append(count)
        return tuple(reversed(counts))


@lru_cache(maxsize=1000)
def _corners(growth: tuple[float, ...]) -> tuple[list[int], list[float]]:
    """Counts that are best at some price, and how growth rises between them, negated.

    They are the corners of its upper hull, from one basic window on. A search for a
    price asks for them some twenty times.
    """
    corners: list[int] = [1]
    falls: list[float] = []
    for count in range(2, len(growth)):
        while True:
            before = corners[-1]
            fall = -(growth[count] - growth[before]) / (count - before)
            if not falls or fall > falls[-1] * _ALIKE:
                break
            corners.pop()
            falls.pop()
        corners.append(count)
        falls.append(fall)
    return corners, falls
