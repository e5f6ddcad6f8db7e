"""One direction of a join of several streams: what its arrivals yield and cost."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from math import inf
from typing import NamedTuple

_ALIKE = 1 - 1e-9
"""Tolerance within which basic windows that add equally much are taken together."""
_ROUNDS = 50
"""Limit for the search for the best ratio, which stops much earlier by itself."""


class Yield(NamedTuple):
    """Results and work per time unit."""

    results: float
    work: float


_NO_STEP = Yield(0.0, inf)


class Direction(NamedTuple):
    """How arrivals of one stream are joined, hop by hop.

    ``rate`` is the number of arrivals per time unit, and ``result_cost`` the work to
    produce one result. ``rows[j]`` is the number of rows in one basic window of hop j.
    If the c best basic windows of hop j are joined, ``growth[j][c]`` is the number of
    partial results after the hop for each partial result before it. ``ranked[j]`` has
    the basic windows of hop j, the best first. All values are plain numbers, not
    arrays, because searches read them one at a time.

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
        """Number of basic windows of each hop."""
        return tuple(len(ranked) for ranked in self.ranked)

    def predicted(self, counts: Sequence[int]) -> Yield:
        """Predict results and work, given the number of basic windows of each hop."""
        partial, work = self.rate, 0.0
        for rows, growth, count in zip(self.rows, self.growth, counts, strict=True):
            work += partial * count * rows
            partial *= growth[count]
        return Yield(partial, work + partial * self.result_cost)

    def steps(self, counts: Sequence[int], by: int = 1) -> list[Yield]:
        """Results and work that one more basic window adds, for each hop.

        With ``by=-1``, they are the results that one basic window less loses, and the
        work that it saves. If a hop has no further basic window to add, or only one
        left, the step is impossible. It then has no results and infinite work.
        """
        results, work = 1.0, self.result_cost  # per partial result, from the last hop
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
        """Counts with the most results per work; all 0 if there are no results.

        This is Dinkelbach's method. It begins with some price of work, in results, and
        finds the counts that are best at this price. Their ratio of results to work is
        the next price. At a given price, the worth of one partial result depends only
        on the hops that follow. So each hop can be optimised alone, beginning with the
        last one.
        """
        counts = (1,) * len(self.rows)
        results, work = self.predicted(counts)
        if not (results > 0 and work > 0):  # very little work may round to 0
            return (0,) * len(self.rows)
        for _ in range(_ROUNDS):
            better = self.best_at(results / work)
            next_results, next_work = self.predicted(better)
            if not next_results * work > results * next_work:
                break
            counts, results, work = better, next_results, next_work
        return counts

    def worthwhile(self, price: float) -> Yield:
        """Results and work of the best counts at a price.

        Both are 0 if the results of these counts are not worth their work.
        """
        found = self.predicted(self.best_at(price))
        return found if found.results > price * found.work else Yield(0.0, 0.0)

    def best_at(self, price: float) -> tuple[int, ...]:
        """Counts with the greatest ``results - price * work``; each is at least 1."""
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
    """Counts that are best at some price, and negated slopes of growth between them.

    The growth of a hop is the number of partial results after the hop for each partial
    result before it.
    The counts are the corners of the upper hull of the growth, from one basic window
    on. They are cached, because a search for a price reads them some twenty times.
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
