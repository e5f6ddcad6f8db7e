"""Counts of shredded arrivals, from which lags and the order of hops are chosen.

Counts fade with event time. Their half-life is the window. Counts are rounded whenever
they fade. So their stored form is short, and a restart does not change them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from shedjoin.operators.multiway.expected import Counted, direction_of, hop_of
from shedjoin.operators.multiway.lags import BUCKETS
from shedjoin.operators.multiway.tally import Tally
from shedjoin.plan.harvest_direction import Direction
from shedjoin.spec.throttle import Throttle
from shedjoin.types import FloatArray, IntArray

if TYPE_CHECKING:  # plans need scipy; joins without a throttle do not
    from shedjoin import plan

_DIGITS = 3
_YOUNG = 4.0
"""Counts fade at the usual pace when this many half-lives have passed since counting
began. Before, they fade faster."""
_SOONER = 4
"""The counts of work done and work planned fade this many times as fast as other
counts. Excess work while windows were filling up says little about excess work now."""
_ENOUGH = 2
"""Another order of the streams is considered only if at least this many shredded
arrivals have begun with each hop."""
_BETTER, _UNSURE = 1.2, 1.5
"""Another order must be better by a factor: the first number, plus the second number
divided by the root of the number of counted arrivals. The factor is above 1, because a
change has a cost: the counts of the hops in the present order are lost."""


class Learned:
    """Faded counts of one shard, and the order of the hops of each direction.

    ``seen`` and ``stored`` count arrivals by stream. ``partial``, ``rows``, ``matches``
    and ``squares`` are counts of hops as in ``Tally``. ``pair_*`` are the same counts,
    but only of arrivals that began with the hop. ``results`` are the results of
    shredded arrivals by stream, and ``counted`` the number of these arrivals. ``paced``
    is the work that was done, and the work that was planned.
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
        self.squares = np.zeros(size)
        self.pair_partial = np.zeros(size)
        self.pair_rows = np.zeros((*size, BUCKETS))
        self.pair_matches = np.zeros((*size, BUCKETS))
        self.pair_squares = np.zeros(size)
        self.paced = np.zeros(2)
        self.time_us = -1.0
        self.began_us = -1.0
        self.orders: list[tuple[int, ...]] = []

    @staticmethod
    def of(facts: dict[str, Any] | None, streams: int) -> Learned:
        """Restore from facts that :meth:`facts` returned; None means no counts."""
        learned = Learned(streams)
        if facts is not None:
            for name in _ARRAYS:
                if name in facts:
                    setattr(learned, name, np.array(facts[name], np.float64))
            learned.time_us = facts["time_us"]
            learned.began_us = facts.get("began_us", -1.0)
            learned.orders = [tuple(order) for order in facts["orders"]]
        return learned

    def facts(self) -> dict[str, Any]:
        """Facts to store, from which :meth:`of` restores the counts."""
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        times = {"time_us": self.time_us, "began_us": self.began_us}
        return arrays | times | {"orders": self.orders}

    @property
    def is_known(self) -> bool:
        """Whether any shredded arrival was counted."""
        return bool(self.partial.any())

    @property
    def least(self) -> float:
        """Least number of shredded arrivals that began with any hop of a direction.

        The direction in which this number is greatest is used, because arrivals of
        other directions may find no matches at all.
        """
        others = [list(order) for order in self.orders]
        met = (self.pair_partial[own, met] for own, met in enumerate(others))
        return max(float(found.min()) for found in met)

    def results_off(self, seen: IntArray) -> float:
        """Standard deviation of the estimated results of ``seen`` arrivals by stream.

        The results of an arrival are estimated by a product over hops. Each factor is
        uncertain, because it is estimated from a few arrivals.
        """
        variance = 0.0
        for stream, order in enumerate(self.orders):
            if not self.counted[stream]:
                continue
            mean, relative = self.results[stream] / self.counted[stream], 0.0
            for other in order:
                partial = self.partial[stream, other]
                found = self.matches[stream, other].sum()
                if partial and found:
                    square = self.squares[stream, other] / found**2
                    relative += max(square - 1.0 / partial, 1.0 / found)
            variance += (float(seen[stream]) * mean) ** 2 * relative
        return float(np.sqrt(variance))

    def fade(self, time_us: float, half_us: float) -> None:
        """Fade counts up to ``time_us``, the mean time of new arrivals.

        One call fades counts by at most a half. Soon after the start of the query,
        counts fade faster, because windows were not full when early counts were made.
        """
        if self.time_us < 0:
            self.began_us = self.time_us = time_us
        self.began_us = min(self.began_us, time_us)  # later rows may have earlier times
        half_us = min(half_us, max((time_us - self.began_us) / _YOUNG, half_us / 16))
        passed = min(max(time_us - self.time_us, 0.0), half_us)
        self.time_us = time_us
        kept = 0.5 ** (passed / half_us)
        self.paced *= kept ** (_SOONER - 1)
        # The variance of a count fades by the square of the factor for the count. The
        # loop multiplies by this factor once more.
        self.squares *= kept
        self.pair_squares *= kept
        for name in _ARRAYS:
            setattr(self, name, np.round(getattr(self, name) * kept, _DIGITS))

    def count(self, seen: IntArray, stored: IntArray, tallies: Sequence[Tally]) -> None:
        """Add the counts of a micro-batch.

        The first tally counts arrivals that were joined in the usual order. Each other
        tally counts scouts: arrivals that began with another stream.
        """
        self.seen += seen
        self.stored += stored
        for name in Counted._fields:
            getattr(self, name)[:] += getattr(tallies[0], name)
        for place, tally in enumerate(tallies):
            self.results += tally.results
            for stream, order in enumerate(self.orders):
                hop = stream, order[place]
                self.counted[stream] += tally.partial[hop]
                for name in Counted._fields:
                    getattr(self, f"pair_{name}")[hop] += getattr(tally, name)[hop]

    def reorder(self, throttle: Throttle) -> None:
        """Choose the order of hops that finds the most results for the allowed work.

        For orders that are not in use, it is unknown how hops depend on each other. So
        orders are compared as if hops were independent.
        """
        if len(self.orders) == 2:  # noqa: PLR2004 - there is one order only
            return
        price = self._price(throttle) if throttle.active else 0.0
        for stream, order in enumerate(self.orders):
            known = float(self.pair_partial[stream, list(order)].min())
            if known < _ENOUGH:
                continue
            made = self._in_any_order(stream, throttle)
            better = _BETTER + _UNSURE / known**0.5
            best = _best(made, order, price, better)
            if best != order:
                self.orders[stream] = best
                # The ``pair_*`` counts are used until there are counts in this order.
                for name in Counted._fields:
                    found = getattr(self, f"pair_{name}")
                    getattr(self, name)[stream] = found[stream]

    def _price(self, throttle: Throttle) -> float:
        """Price of work at which no more work is done than the throttle allows."""
        from shedjoin import plan

        work = throttle.share * float(self.seen @ self.whole_work(throttle))
        return plan.price_of_work(work, self.load(throttle))

    def whole_work(self, throttle: Throttle) -> FloatArray:
        """Work of comparing an arrival of each stream with all residents.

        The throttle allows a share of this work. The order with the least work is
        assumed, because the present order may be best only for a few lags, and take far
        more work for all lags.
        """
        directions = self.load(throttle).directions
        whole = [
            each.predicted(each.whole).work / max(each.rate, 1e-9)
            for each in directions
        ]
        for stream, order in enumerate(self.orders):
            if (
                len(order) > 1
                and self.pair_partial[stream, list(order)].min() >= _ENOUGH
            ):
                made = self._in_any_order(stream, throttle).values()
                least = min(each.predicted(each.whole).work for each in made)
                whole[stream] = min(whole[stream], least)
        return np.array(whole)

    def _in_any_order(
        self, stream: int, throttle: Throttle
    ) -> dict[tuple[int, ...], Direction]:
        """Direction of one arrival of a stream, for each possible order of hops.

        The direction is estimated as if hops were independent.
        """
        part, order = self._stored_part, self.orders[stream]
        hops = {
            other: hop_of(self._counted((stream, other), "pair_"), part=part[other])
            for other in order
        }
        return {
            some: direction_of(1.0, [hops[other] for other in some], throttle)
            for some in permutations(order)
        }

    @property
    def _stored_part(self) -> FloatArray:
        """Part of the arrivals of each stream that was stored."""
        part = self.stored / np.maximum(self.seen, 1e-9)
        return np.where(self.seen > 0, part, 1.0)

    def _counted(self, hop: tuple[int, int], prefix: str = "") -> Counted:
        """Counts of a hop; with ``pair_``, only of arrivals that began with the hop."""
        return Counted(*(getattr(self, prefix + name)[hop] for name in Counted._fields))

    def load(
        self, throttle: Throttle, coming: FloatArray | None = None
    ) -> plan.HarvestLoad:
        """Estimated results and work of the whole join.

        The estimates are for ``coming`` arrivals by stream. Without ``coming``, the
        faded counts of arrivals are used instead.
        """
        from shedjoin import plan

        rate = self.seen if coming is None else coming
        part, directions = self._stored_part, []
        for stream, order in enumerate(self.orders):
            hops = [
                hop_of(self._counted((stream, other)), part=part[other])
                for other in order
            ]
            directions.append(direction_of(float(rate[stream]), hops, throttle))
        return plan.HarvestLoad.measured(directions, self.orders, throttle.match)


def _best(
    made: Mapping[tuple[int, ...], Direction],
    order: tuple[int, ...],
    price: float,
    better: float,
) -> tuple[int, ...]:
    """Choose an order: the present one, unless another order is clearly better.

    If ``price`` is 0, arrivals are compared with all residents, and orders are compared
    by results per work. Otherwise, each order does only the work that is worth the
    price. If an order does more work than the present order, the price of the
    difference is subtracted from its results. If it does less work, the price is added.
    """
    scores = {}
    if price:
        yields = {some: each.worthwhile(price) for some, each in made.items()}
        for some, found in yields.items():
            scores[some] = found.results - price * (found.work - yields[order].work)
    else:
        for some, direction in made.items():
            results, work = direction.predicted(direction.whole)
            scores[some] = results / work if work > 0 else 0.0
    best = max(scores, key=lambda some: (scores[some], some == order))
    return best if scores[best] > better * scores[order] else order


_ARRAYS = (
    *("seen", "stored", "results", "counted", "partial", "rows", "matches"),
    *("squares", "pair_partial", "pair_rows", "pair_matches", "pair_squares"),
    "paced",
)
