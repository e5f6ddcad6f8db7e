"""Age curves: how many results a resident brings per unit of time, by age and key.

The curve is a table ``rate[stream, level, age]``. It holds the results per second that
a resident of ``stream`` brings at an age, if the count of its key on the other streams
is of that ``level``. Counts are decayed: older arrivals count less. A level is half an
octave of counts, and the lowest level has the counts below 1/32. If only the key
matters in a stream, the table is flat in age. If only age matters, it is flat in level.
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
"""Weight of the prior, in matches and in keys."""
_ENOUGH, _SHORTEST = 1000.0, 0.25
"""Matches that let early evidence fade sooner; shortest half-life then, as a part of
all time so far."""
_TINY = 1e-30
_FACTORS = 0.01, 100.0
COUNTS = np.exp2((np.arange(LEVELS) - 1.5 - FINER) / 2.0)
"""Typical count of each level."""
_CERTAIN = COUNTS**2 / (1.0 + COUNTS**2)
"""How well a count predicts the rate of its key, by level; little if it is below
one."""
_LEANING = np.where(np.arange(LEVELS) > 0, 1.0, 1.0 / 32.0)
"""Weight of the prior by level: the lowest level has no counts to base it on."""
_NEAR = 0.7 ** np.abs(np.subtract.outer(np.arange(AGES), np.arange(AGES)))
"""Weight of the evidence of one age for another age."""
Table = npt.NDArray[np.float64]


def level_of(count: FloatArray) -> IntArray:
    """Level of a decayed count, in half octaves; below 1/32 it is 0."""
    level = np.empty(count.size, np.int64)
    read_levels(count.view(np.int64), LEVELS, level)
    return level


def age_of(age_us: IntArray, keep_us: IntArray) -> IntArray:
    """Number of the age bucket within the window of the stream."""
    bucket = age_us * AGES // np.maximum(1, keep_us)
    return np.clip(bucket, 0, AGES - 1)


class Curve:
    """Matches and time at risk by stream, level and age; older evidence counts less.

    It also counts by level the keys that the evidence comes from.

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
        """Shapes of the arrays for so many streams."""
        return *((streams, LEVELS, AGES),) * 3, (streams, LEVELS), (streams,)

    def __init__(
        self, room: Sequence[IntArray], keep_us: tuple[int, ...], half_life_us: int
    ) -> None:
        self.keep_us = keep_us
        self.half_life_us = half_life_us
        self.matches, self.seconds = reals(room[0]), reals(room[1])
        self.lately = reals(room[2])  # matches since the last tick
        self.keys = reals(room[3])
        self.hoped = reals(room[4])  # matches to expect if keys came independently

    def add_matches(
        self,
        stream: IntArray,
        level: IntArray,
        age_us: IntArray,
        weight: IntArray | None = None,
    ) -> None:
        """Count matches of residents; they take effect at the next :meth:`tick`.

        ``weight`` is the number of matches that each of them stands for, by default
        one.
        """
        age = age_of(age_us, np.array(self.keep_us)[stream])
        cell = (stream * LEVELS + level) * AGES + age
        found = np.bincount(cell, weight, minlength=self.lately.size)
        self.lately += found.reshape(self.lately.shape)

    def add_keys(self, stream: int, level: IntArray, passed_us: int) -> None:
        """Count keys that had rows for some time, as fractions of the life of a row."""
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
        """Add the time between two ages at which rows could be matched.

        ``count`` is what the count of each level is expected to become.
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

        The prior of a cell is the rate of its level times a shape over ages that all
        levels share. The shape is the greater of two ratios: the rate at an age over
        the mean rate, and the matches at an age over those expected from the levels of
        its rows. The first ratio is too low for ages that only rare keys have reached
        so far. The second is too low for ages at which rows have a level that their own
        matches have raised. Both ratios are 1 on average.

        A prior weighs as much as a few matches, plus the matches of some thirty keys. A
        frequent key has many matches, which show its own rate but say little about
        other keys. The counts of those keys say more.
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
        # A level may have few keys. A higher level never has a lower mean rate.
        mean = rate.mean(axis=2, keepdims=True)[:, 1:]
        rate[:, 1:] *= np.maximum.accumulate(mean, axis=1) / np.maximum(mean, _TINY)
        return rate


def _along_age(matches: Table, seconds: Table) -> Table:
    """Matches per second, by stream and age, smoothed over ages.

    The ages around an age count as much as a few of its own matches. An age that no row
    has reached yet, as in the first window, gets the rate of the last ages before it.
    One match over the time of all ages is added to that. The addition matters only as
    long as almost nothing has matched.
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

    Works on the last axis; this is the priority rule of Srivastava and Widom.
    """
    total = np.concatenate([np.zeros((*rate.shape[:-1], 1)), rate.cumsum(-1)], axis=-1)
    best = np.empty(rate.shape)
    ages = rate.shape[-1]
    best_means(total.reshape(-1, ages + 1), best.reshape(-1, ages))
    return best


def _ratio(matches: Table, seconds: Table) -> Table:
    """Matches per second; 0 where no time has passed, even if early rows matched."""
    return np.where(seconds > 0.0, matches / np.maximum(seconds, _TINY), 0.0)
