"""Expected results of rows, per second and over their life, by key and age."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.priorities import Rates, read_priorities, read_times
from shedjoin.kernels.rates import read_table
from shedjoin.models.curve import AGES, COUNTS, Curve, Table, level_of, priorities
from shedjoin.models.frequency import Frequency
from shedjoin.types import FloatArray, IntArray


class Yields:
    """Estimates the results of rows from what was learned about keys and ages.

    In a join of several streams, the results of a row per second are a sum over the
    other streams. The term of a stream is for results whose last row comes from it. The
    term is the rate at which rows of the key come on that stream, times the numbers of
    rows of the key in the windows of the remaining streams. Rates and numbers are
    proportional to the counts of the key. So the sum is the product of the counts of
    the key on the other streams, times a factor that depends only on the windows. A
    *level* is a range of counts. The level of a row is found by the geometric mean of
    these counts, because their product may be above every level.

    Parameters
    ----------
    frequency : Frequency
        Counts of keys.
    curve : Curve
        Results by level and age.
    clocks : array
        Times at which counting began, and at which the curve was last updated.
    """

    def __init__(self, frequency: Frequency, curve: Curve, clocks: IntArray) -> None:
        self._frequency = frequency
        self._curve = curve
        self._clocks = clocks
        self._keep_us = np.array(curve.keep_us)
        self._partners = len(curve.keep_us) - 1
        self._typical: FloatArray = COUNTS**self._partners
        self.forget()

    def forget(self) -> None:
        """Discard the tables that were read from the curve, because it has changed."""
        self._by_age: Table | None = None
        self._by_level: Table | None = None
        self._lives: Table | None = None

    def passed_us(self, clock_us: int) -> int:
        """Event time since counting began."""
        return clock_us - int(self._clocks[0])

    def rate(self, stream: int, clock_us: int) -> float:
        """Recent arrivals of a stream per second."""
        passed = max(1, self.passed_us(clock_us))
        faded = self._frequency.half_life_us / np.log(2.0)
        seconds = faded * -np.expm1(-passed / faded) * 1e-6
        return self._frequency.total(stream, clock_us) / float(seconds)

    def rows_in_window(self, clock_us: int) -> float:
        """Expected number of rows that have not expired, over all streams."""
        passed = self.passed_us(clock_us)
        seconds = np.minimum(self._keep_us, passed) * 1e-6
        rates = [self.rate(stream, clock_us) for stream in range(seconds.size)]
        return float(np.array(rates) @ seconds)

    def priority_by_age(self, stream: IntArray, age_us: IntArray) -> FloatArray:
        """Highest mean of results per second, from a row's age to any later age.

        Keys are not distinguished.
        """
        if self._by_age is None:
            self._by_age = priorities(self._curve.by_age())[:, None, :].copy()
        level, found = np.zeros(stream.size, np.int64), np.empty(stream.size)
        read_table(stream, level, age_us, self._ages_per_us, self._by_age, found)
        return found

    def priority(
        self, stream: IntArray, key: IntArray, age_us: IntArray, clock_us: int
    ) -> FloatArray:
        """Highest mean of results per second, from a row's age to any later age.

        The mean depends on how often the key of the row comes.
        """
        if self._by_level is None:
            self._by_level = priorities(self._rates())
        slow, best = self.counted(stream, key, clock_us)
        rates = Rates(self._by_level, self._ages_per_us, self._typical)
        bits, found = self._mean(slow).view(np.int64), np.empty(stream.size)
        read_priorities(stream, slow, best, bits, age_us, rates, found)
        return found

    def expected_matches(
        self, stream: IntArray, key: IntArray, clock_us: int
    ) -> FloatArray:
        """Expected matches of a new row over its whole life."""
        if self._lives is None:
            self._lives = self._rates().sum(axis=2) * self._spans[:, None]
        slow, best = self.counted(stream, key, clock_us)
        level, times = level_of(self._mean(slow)), np.empty(key.size)
        read_times(slow, best, level, self._typical, times)
        return times * self._lives[stream, level]

    def mean_matches(self) -> float:
        """Mean matches of a row over its whole life, over all streams; 0 if unknown."""
        rates = self._curve.by_age().sum(axis=1) * self._spans
        rows = self._curve.seconds.sum(axis=(1, 2))
        return float(rates @ rows / max(rows.sum(), 1e-30))

    def levels(self, stream: IntArray, key: IntArray, clock_us: int) -> IntArray:
        """Levels of keys, by their counts up to a time."""
        return level_of(self._mean(self.counted(stream, key, clock_us)[0]))

    def counted(
        self, stream: IntArray, key: IntArray, clock_us: int
    ) -> tuple[FloatArray, FloatArray]:
        """Counts of the rows' keys up to now: at the slow pace, and the best estimates.

        The level of a row is computed from these counts, and not from the counts that
        keys will have when a full window has passed. At first, those are guesses from
        few arrivals. Matches are recorded under the level of their key, so a level that
        was guessed too high would distort the curve for a long time.
        """
        passed = self.passed_us(clock_us)
        slow, best = self._frequency.of_partners(stream, key, clock_us, passed)
        return slow, best * self._frequency.reached(passed) ** self._partners

    @property
    def per_product(self) -> FloatArray:
        """Results of a row per second, by stream, if its counts have the product 1."""
        seconds = np.maximum(self._keep_us, 0) * 1e-6
        streams = range(seconds.size)
        held = [
            sum(
                float(np.prod(np.delete(seconds, [own, last])))
                for last in streams
                if last != own
            )
            for own in streams
        ]
        factor: FloatArray = np.array(held)
        return factor * self._frequency.per_count**self._partners

    def will_count(self, clock_us: int) -> FloatArray:
        """Count that keys of each level will reach if they come as often as so far.

        If there are several other streams, it is the product of the counts on them.
        """
        reached = self._frequency.reached(self.passed_us(clock_us))
        steady: FloatArray = self._typical / reached**self._partners
        steady[0] = self._typical[0]  # keys that have not come may never come
        return steady

    def _rates(self) -> Table:
        """Results per second of a row, by stream, level and age.

        The time of the curve's last update is used, so that the rates are the same when
        they are read again after a restart.
        """
        count = self.will_count(int(self._clocks[1]))
        return self._curve.by_level(self.per_product, count)

    def _mean(self, count: FloatArray) -> FloatArray:
        """Geometric mean of counts, from their product."""
        return count if self._partners == 1 else count ** (1.0 / self._partners)

    @property
    def _spans(self) -> FloatArray:
        """Seconds in an age bucket, by stream."""
        return self._keep_us * (1e-6 / AGES)

    @property
    def _ages_per_us(self) -> FloatArray:
        """Age buckets in a microsecond, by stream."""
        per_us: FloatArray = AGES / np.maximum(self._keep_us, 1)
        return per_us
