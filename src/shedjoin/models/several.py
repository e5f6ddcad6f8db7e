"""What one shard learns of a join of several streams, in which results need all."""

from __future__ import annotations

import numpy as np

from shedjoin.models.curve import Table
from shedjoin.models.learned import Models
from shedjoin.models.monitored import Seen
from shedjoin.types import FloatArray, IntArray


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
        Rows also match rows of so many keys up and down. They are counted there, too,
        while monitored are only results of one key.
    """

    def __init__(
        self,
        keep_us: tuple[int, ...],
        capacity_rows: int,
        *,
        words: IntArray | None = None,
        reach: int = 0,
    ) -> None:
        super().__init__(keep_us, capacity_rows, words=words)
        self._reach = reach

    def _count(self, mine: list[IntArray], key: IntArray, time: IntArray) -> None:
        for offset in range(-self._reach, self._reach + 1):
            super()._count(mine, key + offset, time)

    def _tick(self) -> None:
        # Results of one key say too little of a row that also matches its neighbours:
        # beside a frequent key they would be taken for those of a frequent one.
        if not self._reach:
            super()._tick()

    def _rates(self) -> Table:
        partners = len(self.keep_us) - 1
        seconds = np.maximum(self.keep_us, 0) * 1e-6
        held = [
            sum(
                float(np.prod(np.delete(seconds, [own, last])))
                for last in self._streams
                if last != own
            )
            for own in self._streams
        ]
        factor = np.array(held) * self.frequency.per_count**partners
        return self.curve.by_level(factor, partners)

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
            if learn and rows.size and not self._reach:
                self._learn(seen, np.broadcast_to(weight, key.size)[rows])
        results = int(np.prod(count, axis=0, dtype=np.int64).sum())
        self.seen_pairs += results
        if results:
            self.seen_matches += results / self.slice.share
        self.slice.add(stream, key, time)

    def _learn(self, seen: Seen, weight: IntArray) -> None:
        level = self._levels(seen.stream, seen.key)
        self.curve.add_matches(seen.stream, level, seen.age_us, weight)
