"""What one shard learns of a join of several streams, in which results need all."""

from __future__ import annotations

from itertools import product

import numpy as np

from shedjoin.models.curve import Table
from shedjoin.models.frequency import Frequency
from shedjoin.models.learned import Models
from shedjoin.models.monitored import Seen
from shedjoin.models.words import Shape, cut, size_of
from shedjoin.types import FloatArray, IntArray

_LEAST, _MOST = 10, 14
"""Bits of the cells for counts of neighbours."""


class SeveralModels(Models):
    """The models of one shard, where a result has a row of every stream.

    What a row brings per second is a sum over the streams whose row may come last: its
    rate, times the rows of that key which the windows of all others hold then. Rates
    are the counts of the key, so that is the product of its counts on the other
    streams, times a factor that only windows decide. As for two streams this is where
    the table of rates starts from, and results of monitored keys correct it by level
    and age. Levels go by the geometric mean of the counts: products leave any range.

    Parameters
    ----------
    keep_us, capacity_rows, words
        As of :class:`Models`.
    reach : int
        Rows also match rows of so many keys up and down: what they bring is then told
        from the counts of all these keys. Monitored are only results of one key.
    """

    def __init__(
        self,
        keep_us: tuple[int, ...],
        capacity_rows: int,
        *,
        words: IntArray | None = None,
        reach: int = 0,
    ) -> None:
        if words is None:
            size = self.words_within(capacity_rows, len(keep_us), reach)
            words = np.zeros(size, np.int64)
        super().__init__(keep_us, capacity_rows, words=words)
        self._reach = reach
        self._near = self.frequency
        if reach:
            own = words[self.words_of(capacity_rows, len(keep_us)) :]
            shapes = _near_shapes(capacity_rows, len(keep_us))
            self._near = Frequency(cut(own, shapes), self.frequency.half_life_us)

    @staticmethod
    def words_within(capacity_rows: int, streams: int, reach: int) -> int:
        """Words that the models of a shard with so many residents take."""
        more = size_of(_near_shapes(capacity_rows, streams)) if reach else 0
        return Models.words_of(capacity_rows, streams) + more

    def partner_count(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Product of the counts of each row's key on the other streams."""
        passed = self._passed(self.clock_us)
        return self._near.of_partners(stream, key, self.clock_us, passed)[1]

    def priority(self, stream: IntArray, key: IntArray, age_us: IntArray) -> FloatArray:
        """Results per second of each row from now on.

        Where keys reach others, results of one key do not tell: ages do not count.
        """
        if not self._reach:
            return super().priority(stream, key, age_us)
        return self.partner_count(stream, key) * self._per_product[stream]

    def _count(self, mine: list[IntArray], key: IntArray, time: IntArray) -> None:
        super()._count(mine, key, time)
        offsets = range(-self._reach, self._reach + 1) if self._reach else ()
        for (own, rows), offset in product(enumerate(mine), offsets):
            counted = np.minimum(time[rows], self.clock_us)
            self._near.add(own, key[rows] + offset, counted, self.clock_us)

    def _rates(self) -> Table:
        return self.curve.by_level(self._per_product, len(self.keep_us) - 1)

    @property
    def _per_product(self) -> FloatArray:
        """Results per second, by stream, where the product of counts is one."""
        seconds = np.maximum(self.keep_us, 0) * 1e-6
        held = [
            sum(
                float(np.prod(np.delete(seconds, [own, last])))
                for last in self._streams
                if last != own
            )
            for own in self._streams
        ]
        factor: FloatArray = np.array(held)
        return factor * self.frequency.per_count ** (len(self.keep_us) - 1)

    def _typical(self, count: FloatArray) -> FloatArray:
        partners = len(self.keep_us) - 1
        return count if partners == 1 else count ** (1.0 / partners)

    def _watch(
        self, stream: int, key: IntArray, time: IntArray, *, learn: bool
    ) -> None:
        """Count the results of monitored arrivals, and how old their residents were.

        An arrival that comes in time has as many as the product of its partners of each
        stream. Where it comes late, some of these lie too far apart from each other,
        and are counted all the same.
        """
        key.flags.writeable = time.flags.writeable = False
        others = [other for other in self._streams if other != stream]
        found = [self.slice.meet_one(stream, other, key, time) for other in others]
        count = [np.bincount(rows, minlength=key.size) for rows, _ in found]
        for at, (rows, seen) in enumerate(found):
            weight = np.prod([*count[:at], *count[at + 1 :]], axis=0, dtype=np.int64)
            if learn and rows.size:
                self._learn(seen, np.broadcast_to(weight, key.size)[rows])
        results = int(np.prod(count, axis=0, dtype=np.int64).sum())
        self.seen_pairs += results
        if results:
            self.seen_matches += results / self.slice.share
        self.slice.add(stream, key, time)

    def _learn(self, seen: Seen, weight: IntArray) -> None:
        level = self._levels(seen.stream, seen.key)
        self.curve.add_matches(seen.stream, level, seen.age_us, weight)


def _near_shapes(capacity_rows: int, streams: int) -> tuple[Shape, ...]:
    """Room for counts of keys and their neighbours, which are three times as many."""
    width = 1 << max(_LEAST, min(_MOST, (4 * capacity_rows).bit_length()))
    return Frequency.shapes(streams, width)
