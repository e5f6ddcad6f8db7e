"""Keys with a large part of the results: their results are counted exactly.

If a few keys have most of the results, a sample of all keys says little about these
few. So these keys are stored, and their rows are counted by stream and time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shedjoin.kernels.frequent import (
    BUCKETS,
    LAST,
    Counted,
    FrequentKeys,
    Rules,
    count_frequent,
    find_keys,
    put_keys,
)
from shedjoin.models.words import Shape, reals
from shedjoin.types import FloatArray, IntArray

MOST = 256
"""Limit of the number of frequent keys in a shard."""
_PLACES = 4 * MOST
_KEYS, _NEWEST = range(2)
_RENEWED_BEFORE = 0.25
"""Factor by which :attr:`Frequent.renewed` fades in each window."""


class Rows(NamedTuple):
    """Rows of one key and stream that are known and can still be matched.

    ``weight`` is the number of rows at each time. ``importance`` is the mean importance
    of all rows.
    """

    time: IntArray
    weight: FloatArray
    importance: float


class Frequent:
    """Counts of frequent keys by stream and bucket of time.

    Parameters
    ----------
    room : sequence of arrays
        Arrays of the shapes that :meth:`shapes` gives.
    keep_us : tuple of int
        How long a row of each stream can be matched.
    behind_us : int, default 0
        Greatest delay of arrivals behind the clock. Buckets reach back to the oldest
        row that such an arrival can match. Stored buckets keep their width.
    """

    @staticmethod
    def shapes(streams: int) -> tuple[Shape, ...]:
        """Shapes of the arrays for a given number of streams.

        The arrays have the keys, their counts, and facts such as the width of a bucket.
        """
        by_time = MOST, streams, BUCKETS
        facts = (3 + streams,), (1,)
        return (MOST,), by_time, by_time, (MOST, streams, LAST), *facts

    def __init__(
        self, room: Sequence[IntArray], keep_us: tuple[int, ...], behind_us: int = 0
    ) -> None:
        key, *counted, self._facts, renewed = room
        self._renewed = reals(renewed)
        self._keep_us = np.array(keep_us)
        reach = 2 * max(1, *keep_us) + max(0, behind_us - max(keep_us))
        self._facts[-1] = self._facts[-1] or -(-reach // BUCKETS)
        width = int(self._facts[-1])
        counts, sums, last = map(reals, counted)
        place, latest = np.empty(_PLACES, np.int64), self._facts[1:]
        self._keys = FrequentKeys(place, key, counts, sums, last, latest, width)
        put_keys(self.size, self._keys)

    @property
    def size(self) -> int:
        """Number of frequent keys."""
        return int(self._facts[_KEYS])

    @property
    def key(self) -> IntArray:
        """The frequent keys. The number of a key is its position in this array."""
        return self._keys.key[: self.size]

    def numbers(self, key: IntArray) -> IntArray:
        """Number of each frequent key, and -1 for all other keys."""
        found = np.empty(key.size, np.int64)
        find_keys(key, self._keys, found)
        return found

    def count(
        self, rows: Counted, clock_us: int, combine: int | None
    ) -> tuple[FloatArray, FloatArray]:
        """Count the arrivals whose key is frequent, and return their results.

        For each arrival, the number of its results and their total importance are
        returned. Without ``combine``, both are equal.
        """
        matches, worth = np.empty(rows.time.size), np.empty(rows.time.size)
        rules = Rules(
            self._keep_us, clock_us, int(combine is not None), int(combine or 0)
        )
        count_frequent(rows, rules, self._keys, matches, worth)
        return matches, worth

    def add(self, key: int, streams: Sequence[Rows]) -> None:
        """Start to count a key, beginning with its rows that are known."""
        number, keys = self.size, self._keys
        keys.key[number] = key
        newest = int(self._facts[_NEWEST])
        for stream, (time, weight, importance) in enumerate(streams):
            bucket = np.minimum(time // keys.width_us, newest)
            there = bucket > newest - BUCKETS
            place = bucket[there] % BUCKETS
            count = np.bincount(place, weight[there], minlength=BUCKETS)
            keys.counts[number, stream] = count
            keys.sums[number, stream] = (
                count * importance if np.isfinite(importance) else 0.0
            )
            keys.last[number, stream] = importance
        self._facts[_KEYS] = number + 1
        put_keys(self.size, keys)

    @property
    def renewed(self) -> float:
        """Part of all results that belongs to recently added keys."""
        return float(self._renewed[0])

    def renew(self, part: float, windows: float) -> None:
        """Fade ``renewed`` over the windows since the last call, then add ``part``."""
        self._renewed[0] = self._renewed[0] * _RENEWED_BEFORE**windows + part

    def weakest(self) -> tuple[int, float]:
        """Number of the key with the fewest results in the window, and their count."""
        rows = self._keys.counts[: self.size].sum(axis=2).prod(axis=1)
        number = int(np.argmin(rows))
        return number, float(rows[number])

    def forget_idle(self) -> None:
        """Stop counting keys that are not expected to have results."""
        rows = self._keys.counts[: self.size].sum(axis=2).prod(axis=1)
        self.drop(np.flatnonzero(rows <= 0.0))

    def drop(self, number: IntArray) -> None:
        """Stop counting keys."""
        if not number.size:
            return
        kept = np.setdiff1d(np.arange(self.size), number)
        for each in self._keys[1:5]:
            each[: kept.size] = each[kept]
            each[kept.size :] = 0
        self._facts[_KEYS] = kept.size
        put_keys(self.size, self._keys)
