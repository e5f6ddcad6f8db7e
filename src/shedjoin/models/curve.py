"""Age curves: how many results a resident brings per unit of time, by age and key.

The curve is a table ``rate[stream, level, age]``. It holds the results per second that
a resident of ``stream`` brings at an age, if the count of its key on the other streams
is in the range ``level``. Counts are decayed: older arrivals count less. Each level is
a range of counts with a ratio of sqrt(2). The lowest level has all counts below 1/32.
If the matches of a stream depend only on the key, its rates are equal at all ages. If
they depend only on the age, its rates are equal at all levels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shedjoin.kernels.priorities import FINER, read_levels
from shedjoin.kernels.rates import add_spans, best_means
from shedjoin.models.words import Shape, reals
from shedjoin.types import FloatArray, IntArray

AGES = 64
LEVELS = 32
_STRENGTH, _KEYS = 3.0, 30.0
"""The prior weighs as much as 3 matches, plus the matches of 30 keys."""
_ENOUGH, _SHORTEST = 1000.0, 0.25
"""If there are more matches than ``_ENOUGH``, the half-life of early evidence is below
all time so far. It is at least the part ``_SHORTEST`` of all time so far."""
_TINY = 1e-30
_FACTORS = 0.01, 100.0
COUNTS = np.exp2((np.arange(LEVELS) - 1.5 - FINER) / 2.0)
"""Typical count of each level."""
_CERTAIN = COUNTS**2 / (1.0 + COUNTS**2)
"""Weight of a level when its matches are compared with its counts. A count below one
predicts the rate of its key badly."""
_LEANING = np.where(np.arange(LEVELS) > 0, 1.0, 1.0 / 32.0)
"""Weight of the prior by level. It is low for the lowest level, which has no counts on
which a prior could be based."""
_NEAR = 0.7 ** np.abs(np.subtract.outer(np.arange(AGES), np.arange(AGES)))
"""Weight of the evidence of one age for another age."""
Table = npt.NDArray[np.float64]


def level_of(count: FloatArray) -> IntArray:
    """Level of each decayed count; the level of counts below 1/32 is 0."""
    level = np.empty(count.size, np.int64)
    read_levels(count.view(np.int64), LEVELS, level)
    return level


def age_of(age_us: IntArray, keep_us: IntArray) -> IntArray:
    """Number of the age bucket of each row, within the window of its stream."""
    bucket = age_us * AGES // np.maximum(1, keep_us)
    return np.clip(bucket, 0, AGES - 1)


class Curve:
    """Counts matches, and the time for which rows could match, by level and age.

    Both are counted for each stream, and older evidence counts less. The keys from
    which the evidence comes are counted by level.

    Parameters
    ----------
    room : sequence of arrays
        Arrays of the shapes that :meth:`shapes` gives.
    keep_us : tuple of int
        How long a resident of each stream can be matched.
    half_life_us : int
        Event time after which evidence counts half.
    """

    @staticmethod
    def shapes(streams: int) -> tuple[Shape, ...]:
        """Shapes of the arrays for a given number of streams."""
        return *((streams, LEVELS, AGES),) * 3, (streams, LEVELS), (streams,)

    def __init__(
        self, room: Sequence[IntArray], keep_us: tuple[int, ...], half_life_us: int
    ) -> None:
        self.keep_us = keep_us
        self.half_life_us = half_life_us
        self.matches, self.seconds = reals(room[0]), reals(room[1])
        self.lately = reals(room[2])  # matches since the last tick
        self.keys = reals(room[3])
        self.hoped = reals(room[4])  # expected matches if keys came independently

    def add_matches(
        self,
        stream: IntArray,
        level: IntArray,
        age_us: IntArray,
        weight: IntArray | None = None,
    ) -> None:
        """Count matches of residents; they take effect at the next :meth:`tick`.

        ``weight`` is how many matches each entry represents, by default one.
        """
        age = age_of(age_us, np.array(self.keep_us)[stream])
        cell = (stream * LEVELS + level) * AGES + age
        found = np.bincount(cell, weight, minlength=self.lately.size)
        self.lately += found.reshape(self.lately.shape)

    def add_keys(self, stream: int, level: IntArray, passed_us: int) -> None:
        """Count keys that had rows for ``passed_us``.

        Each key adds this time as a fraction of the window.
        """
        part = passed_us / max(1, self.keep_us[stream])
        self.keys[stream] += part * np.bincount(level, minlength=LEVELS)

    def add_time(
        self,
        stream: int,
        level: IntArray,
        young_us: IntArray,
        old_us: IntArray,
        count: FloatArray = COUNTS,
    ) -> None:
        """Add the time for which rows could be matched, from a young to an old age.

        ``count`` is the count that keys of each level are expected to reach.
        """
        keep = max(1, self.keep_us[stream])
        span = np.zeros((LEVELS, AGES))
        low, high = (
            np.asarray(age * (AGES / keep), np.float64) for age in (young_us, old_us)
        )
        add_spans(level, low, high, span)
        span *= keep * 1e-6 / AGES
        self.seconds[stream] += span
        self.hoped[stream] += span.sum(1) @ (count * _CERTAIN)

    def aged(self, passed_us: int, known_us: int) -> int:
        """Time by which evidence ages while some time passes.

        In the first windows, counts are still low, so frequent keys look rare: the
        young rows of rare keys then seem to match often. This evidence should not last.
        At first, its half-life is therefore a quarter of all time so far. With fewer
        matches it is longer: they could not be replaced so soon.
        """
        part = np.clip(_ENOUGH / max(1.0, self.matches.sum()), _SHORTEST, 1.0)
        aged_us = int(passed_us * self.half_life_us // (part * max(1, known_us)))
        return max(passed_us, aged_us)

    def tick(self, passed_us: int) -> None:
        """Fade the old evidence, and add the matches since the last tick."""
        factor = 0.5 ** (passed_us / self.half_life_us)
        self.matches *= factor
        self.matches += self.lately
        self.lately[:] = 0.0
        self.seconds *= factor
        self.keys *= factor
        self.hoped *= factor

    def by_age(self) -> Table:
        """Results per second, by stream and age, over all keys."""
        return _along_age(self.matches.sum(axis=1), self.seconds.sum(axis=1))

    def by_level(
        self, per_count: float | FloatArray, count: FloatArray = COUNTS
    ) -> Table:
        """Results per second, by stream, level and age.

        Suppose that keys came independently of all else. A row whose key is counted c
        times on the other stream would then find c times ``per_count`` results a
        second. ``count`` is this c by level. That rate, times a learned factor that
        starts at 1, is the prior of each level.

        The prior of a level and age is the rate of the level times a shape over ages.
        All levels share the shape. It is the greater of two ratios, which are 1 on
        average. The first is the rate at an age over the mean rate. It is too low for
        ages that only rare keys have reached so far. The second is the matches at an
        age over the matches that the levels of the rows of this age suggest. It is too
        low for ages at which rows have a level that their own matches have raised.

        A prior weighs as much as a few matches, plus the matches of some thirty keys. A
        frequent key has many matches. They show the rate of this key, but little about
        other keys. The counts of the other keys show more.
        """
        expected = np.maximum(np.asarray(per_count)[..., None] * count, _TINY)
        seconds, matches = self.seconds.sum(2), self.matches.sum(2)
        met, hoped = (matches * _CERTAIN).sum(1), self.hoped * per_count
        factor = (met + _KEYS) / (hoped + _KEYS)
        prior = np.clip(factor, *_FACTORS)[:, None] * expected
        for_keys = _KEYS / np.maximum(self.keys, 1.0)
        strength = (_STRENGTH + for_keys * matches) * _LEANING
        level = (matches + strength) / (seconds + strength / prior)
        likely = (self.seconds * level[:, :, None]).sum(1)
        mean = _ratio(matches.sum(1), seconds.sum(1))[:, None]
        much = _ratio(likely.sum(1), matches.sum(1))[:, None]
        shape = np.maximum(
            _along_age(self.matches.sum(1), likely) * much,
            np.where(mean > 0.0, self.by_age() / np.maximum(mean, _TINY), 0.0),
        )
        shape = np.where(shape.any(1, keepdims=True), shape, 1.0)
        cell = np.maximum(level[:, :, None] * shape[:, None, :], _TINY)
        around = self.matches @ (_NEAR / _NEAR.sum(axis=0))
        strength = _STRENGTH + for_keys[:, :, None] * around
        rate = _ratio(self.matches + strength, self.seconds + strength / cell)
        # With few keys, the rate of a level may be wrong. It is raised to the rates of
        # the levels below it, because more frequent keys match more often.
        mean = rate.mean(axis=2, keepdims=True)[:, 1:]
        rate[:, 1:] *= np.maximum.accumulate(mean, axis=1) / np.maximum(mean, _TINY)
        return rate


def _along_age(matches: Table, seconds: Table) -> Table:
    """Matches per second, by stream and age, smoothed over ages.

    The rates at nearby ages weigh as much as a few matches at the age itself. In the
    first window, no row has reached the highest ages. These ages get the rate of the
    last ages that were reached, plus one match over the time of all ages. The addition
    matters only as long as almost nothing has matched.
    """
    around = _ratio(matches @ _NEAR, seconds @ _NEAR)
    lean = _STRENGTH / np.maximum(around, _TINY)
    rate = np.where(around > 0.0, (matches + _STRENGTH) / (seconds + lean), 0.0)
    last = AGES - 1 - np.argmax(seconds[:, ::-1] > 0.0, axis=1)[:, None]
    ahead = np.take_along_axis(around, last, axis=1)
    ahead += _ratio(np.ones(ahead.shape), seconds.sum(axis=1, keepdims=True))
    return np.where(np.arange(AGES) > last, ahead, rate)


def priorities(rate: Table) -> Table:
    """Best mean rate from each age on: ``max over j > i of (C(j) - C(i)) / (j - i)``.

    C is the running sum of the rates along the last axis. This is the priority rule of
    Srivastava and Widom.
    """
    total = np.concatenate([np.zeros((*rate.shape[:-1], 1)), rate.cumsum(-1)], axis=-1)
    best = np.empty(rate.shape)
    ages = rate.shape[-1]
    best_means(total.reshape(-1, ages + 1), best.reshape(-1, ages))
    return best


def _ratio(matches: Table, seconds: Table) -> Table:
    """Matches per second; 0 where no time was counted, even if rows matched."""
    return np.where(seconds > 0.0, matches / np.maximum(seconds, _TINY), 0.0)
