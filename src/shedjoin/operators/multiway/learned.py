"""What a join by predicates learned of its lags, from arrivals that look everywhere.

Counts fade with event time, to the half in the time for which rows are kept. They are
rounded whenever they fade, so that they are short in the state and the same after a
restart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shedjoin.operators.multiway.lags import BUCKETS, HALF
from shedjoin.operators.multiway.tally import Tally
from shedjoin.plan.harvest_direction import Direction
from shedjoin.spec.throttle import Throttle
from shedjoin.types import FloatArray, IntArray

if TYPE_CHECKING:  # plans need scipy, which joins that keep up do without
    from shedjoin import plan

_DIGITS = 3
_PRIOR = 0.5
"""Matches that every hop is supposed to have, at any lag: nothing seen is not never."""
_EMPTY = 0.05
"""Buckets with less of the most work hold nobody: younger rows are not there yet."""
_ENOUGH = 8
"""Arrivals from which on another order of the streams is considered."""
_BETTER = 1.2
"""Another order must be so much better: what hops have learned in this one is lost."""


class Learned:
    """Faded counts of one shard, and the orders in which streams are met.

    ``seen`` and ``stored`` count arrivals by stream, ``partial``, ``rows`` and
    ``matches`` those of hops as in ``Tally``, and ``pair_*`` the same where the stream
    is met first. ``done`` and ``meant`` are work.
    """

    def __init__(self, streams: int) -> None:
        size = streams, streams
        self.seen = np.zeros(streams)
        self.stored = np.zeros(streams)
        self.results = np.zeros(streams)
        self.counted = np.zeros(streams)
        self.partial = np.zeros(size)
        self.rows = np.zeros((*size, BUCKETS))
        self.matches = np.zeros((*size, BUCKETS))
        self.pair_partial = np.zeros(size)
        self.pair_rows = np.zeros((*size, BUCKETS))
        self.pair_matches = np.zeros((*size, BUCKETS))
        self.paced = np.zeros(2)
        self.time_us = -1.0
        self.orders: list[tuple[int, ...]] = []

    @staticmethod
    def of(facts: dict[str, Any] | None, streams: int) -> Learned:
        """Read what was stored; nothing is nothing learned."""
        learned = Learned(streams)
        if facts is not None:
            for name in _ARRAYS:
                setattr(learned, name, np.array(facts[name], np.float64))
            learned.time_us = facts["time_us"]
            learned.orders = [tuple(order) for order in facts["orders"]]
        return learned

    def facts(self) -> dict[str, Any]:
        """What :meth:`of` reads."""
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        return arrays | {"time_us": self.time_us, "orders": self.orders}

    @property
    def is_known(self) -> bool:
        """Whether any arrival was learned from."""
        return bool(self.partial.any())

    def fade(self, time_us: float, half_us: float) -> None:
        """Let time pass to the mean time of new arrivals, at most a half-life."""
        passed = 0.0 if self.time_us < 0 else time_us - self.time_us
        self.time_us = time_us
        kept = 0.5 ** (min(max(passed, 0.0), half_us) / half_us)
        for name in _ARRAYS:
            setattr(self, name, np.round(getattr(self, name) * kept, _DIGITS))

    def count(self, seen: IntArray, stored: IntArray, tallies: Sequence[Tally]) -> None:
        """Add the counts of a micro-batch.

        The first tally is that of arrivals that met the streams in their orders, each
        other one of those that met a later stream first.
        """
        self.seen += seen
        self.stored += stored
        main = tallies[0]
        self.partial += main.partial
        self.rows += main.rows
        self.matches += main.matches
        for place, tally in enumerate(tallies):
            self.results += tally.results
            for stream, order in enumerate(self.orders):
                hop = stream, order[place]
                self.counted[stream] += tally.partial[hop]
                self.pair_partial[hop] += tally.partial[hop]
                self.pair_rows[hop] += tally.rows[hop]
                self.pair_matches[hop] += tally.matches[hop]

    def reorder(self, throttle: Throttle) -> None:
        """Meet streams in the order that finds most for its work.

        What hops have in common is not known for other orders; they are compared as if
        hops were independent.
        """
        for stream, order in enumerate(self.orders):
            others = list(order)
            enough = self.pair_partial[stream, others].min() >= _ENOUGH
            if len(others) < 2 or not enough:  # noqa: PLR2004
                continue
            pairs = self.pair_partial, self.pair_rows, self.pair_matches
            hops = {
                other: _hop(*(counts[stream, other] for counts in pairs))
                for other in others
            }
            scores = {
                some: _score([hops[other] for other in some], throttle)
                for some in permutations(order)
            }
            best = max(scores, key=lambda some: (scores[some], some == order))
            if scores[best] > _BETTER * scores[order]:
                self.orders[stream] = best
                # Until they are counted in this order.
                self.partial[stream] = self.pair_partial[stream]
                self.rows[stream] = self.pair_rows[stream]
                self.matches[stream] = self.pair_matches[stream]

    def load(self, throttle: Throttle) -> plan.HarvestLoad:
        """Results and work of the whole join, as learned; arrivals as they faded."""
        from shedjoin import plan

        part = np.where(self.seen > 0, self.stored / np.maximum(self.seen, 1e-9), 1.0)
        directions = []
        for stream, order in enumerate(self.orders):
            hops = []
            for other in order:
                at = stream, other
                counts = self.partial[at], self.rows[at], self.matches[at]
                hops.append(_hop(*counts, part=part[other]))
            directions.append(_direction(float(self.seen[stream]), hops, throttle))
        return plan.HarvestLoad.measured(directions, self.orders, throttle.match)


class _Hop(NamedTuple):
    """Work of one bucket, growth by the number of buckets, and the best buckets."""

    work: float
    growth: tuple[float, ...]
    ranked: tuple[int, ...]


def _hop(
    partial: float, rows: FloatArray, matches: FloatArray, part: float = 1.0
) -> _Hop:
    """What one partial result finds at a hop, by lag bucket.

    Of the other stream only a ``part`` was stored; more would be met with all.
    """
    if not partial or not rows.any():
        partial = 1.0
        rows, matches = (
            np.repeat([0.0, max(1.0, Tally.opening)], HALF),
            np.zeros(BUCKETS),
        )
    used = np.flatnonzero(rows > _EMPTY * rows.max())
    found = _settled(matches[used], rows[used] / rows[used].sum())
    # Among equals the youngest first: they are there the soonest.
    best = np.lexsort((np.abs(used - HALF + 0.5), -found))
    more = 1 / max(part, 1e-3)
    growth = np.cumsum(found[best]) / partial * more
    work = float(rows[used].mean() / partial)
    work += (more - 1) * max(0.0, work - Tally.opening)
    return _Hop(work, (0.0, *growth.tolist()), tuple(used[best].tolist()))


def _settled(matches: FloatArray, flat: FloatArray) -> FloatArray:
    """Matches by bucket, as far as they differ by more than chance from flat ones.

    Counts at random vary as much as their mean: the best of them are no better.
    """
    mean, variance = float(matches.mean()), float(matches.var())
    apart = max(0.0, 1 - mean / variance) if variance > 0 else 0.0
    even: FloatArray = flat * float(matches.sum())
    return even + apart * (matches - even) + _PRIOR * flat


def _direction(rate: float, hops: Sequence[_Hop], throttle: Throttle) -> Direction:
    return Direction(
        rate,
        tuple(throttle.update * hop.work for hop in hops),
        tuple(hop.growth for hop in hops),
        tuple(hop.ranked for hop in hops),
        throttle.match,
    )


def _score(hops: Sequence[_Hop], throttle: Throttle) -> float:
    """Results for work, of the best buckets if not all of them can be looked at."""
    direction = _direction(1.0, hops, throttle)
    counts = direction.best_ratio() if throttle.active else direction.whole
    results, work = direction.predicted(counts)
    return results / work if work > 0 else 0.0


_ARRAYS = (
    *("seen", "stored", "results", "counted", "partial", "rows", "matches"),
    *("pair_partial", "pair_rows", "pair_matches", "paced"),
)
