"""Which sample of the join would tell most, and how large one fits the memory.

Both are worked out on the monitored slice, of which all rows and matches are known. A
sample is to tell the number of results, or the sum of their values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.models.monitored import Ghosts, Slice
from shedjoin.models.worth import Worth
from shedjoin.models.yields import Yields
from shedjoin.types import FloatArray

_PPS, _UNIFORM = 1, 2
"""Places of schemes among the variances; EQ-CLUSTER is first."""
_EVEN = 0.1
"""PPS-CLUSTER's part that is given to all rows alike."""
_LEAST_VALUE = 0.05
"""Part of the mean value that every row counts as: no row may be without a chance."""
_BIAS = 5.0
"""How much worse a bias is than an error of the same size: intervals know nothing of
it, and a fifth of the error is as much as they bear."""
_OLD = 0.75
"""Part of its life that a row must have had to be judged."""


class Rows(NamedTuple):
    """Monitored rows of all streams."""

    expected: FloatArray  # matches in all their life, as predicted
    met: FloatArray  # matches so far
    lived: FloatArray  # part of their life so far
    value: FloatArray  # what size their own value gives them, 1 on average
    total: FloatArray  # sum of the values of their matches so far
    squares: FloatArray  # sum of the squares of these values


class Outlook(NamedTuple):
    """What a sample can reach: UNIFORM's fraction, variances of a sum by scheme."""

    fraction: float
    variance: tuple[float, float, float]

    @property
    def best(self) -> int:
        """Which variance is the least; that of EQ-CLUSTER while nothing is known."""
        return self.variance.index(min(self.variance))

    @property
    def favours_pps(self) -> bool:
        """Whether PPS-CLUSTER has the least variance."""
        return self.best == _PPS

    @property
    def favours_uniform(self) -> bool:
        """Whether UNIFORM has the least variance."""
        return self.best == _UNIFORM


_UNKNOWN = Outlook(1.0, (0.0, 0.0, 0.0))


def outlook_in(words: FloatArray) -> Outlook:
    """The outlook that was stored, or that of a slice of which nothing is known."""
    known, fraction, eq, pps, uniform = words.tolist()
    return Outlook(fraction, (eq, pps, uniform)) if known else _UNKNOWN


def outlook_words(found: Outlook) -> tuple[float, ...]:
    """What is stored of an outlook."""
    return 1.0, found.fraction, *found.variance


def outlook(rows: Rows, share: float, capacity: float) -> Outlook:
    """Predict the schemes of Srivastava and Widom, section 4, from the slice.

    Parameters
    ----------
    rows : Rows
        The slice.
    share : float
        Part of all rows that is monitored.
    capacity : float
        Rows that fit the memory, of all keys.

    Notes
    -----
    Section 4.3.2 names three things to go by. *Accuracy of n(s)*: where rows match more
    often than predicted, UNIFORM never samples the rest; that bias counts five times.
    *Inter-cluster variance* and *cluster sizes*: under EQ and PPS, a row whose matches
    have the values y adds sum(y)^2 (1/p - 1) to the variance of the sum of all values;
    under UNIFORM it adds sum(y^2) (1/p - 1). If nothing has a value, every y is 1 and
    the sum is the count. If rows have values, p goes by them under EQ and PPS.
    """
    # Only samples need scipy: other workers start without it.
    from shedjoin.plan.cluster_sampling import pps_scale
    from shedjoin.plan.coins import largest_fraction, last_success, whole_coins

    room = capacity * share
    if rows.expected.size <= room or room < 1.0:
        return _UNKNOWN
    coins = whole_coins(rows.expected)
    fraction = largest_fraction(lambda p: float(last_success(p, coins).sum()), room)
    old = rows.lived >= _OLD
    if not old.any():
        return Outlook(fraction, (0.0, 0.0, 0.0))
    lived = rows.lived[old]
    met, total, squares = (
        sums[old] / lived for sums in (rows.met, rows.total, rows.squares)
    )

    def of_clusters(size: FloatArray) -> float:
        scale = pps_scale(room, np.ones(size.size), size)
        chance = np.minimum(1.0, scale * size[old])
        return float(np.sum(total**2 * (1.0 / chance - 1.0)))

    by_matches = pps_sizes(rows.expected, rows.expected.mean())
    square = np.divide(squares, met, out=np.zeros(met.size), where=met > 0)
    uniform = np.sum(square * np.minimum(met, coins[old])) * (1.0 / fraction - 1.0)
    mean = np.abs(total).sum() / met.sum() if met.any() else 1.0
    missed = mean * _missed(met, coins[old]) / np.sqrt(share)
    variances = (
        of_clusters(rows.value),
        of_clusters(rows.value * by_matches),
        float(uniform + (_BIAS * missed) ** 2),
    )
    return Outlook(fraction, variances)


def _missed(met: FloatArray, coins: FloatArray) -> float:
    """Matches beyond the coins: those seen, or more if what was seen says too little.

    Few monitored rows are hot, and their luck hides what hot rows miss on average. If
    matches scatter as much as a Poisson number does, sqrt(n / 2 pi) of them are missed;
    that scales with the scatter seen.
    """
    seen = float(np.maximum(met - coins, 0.0).sum())
    scatter = min(1.0, float(np.mean((met - coins) ** 2 / coins)))
    return max(seen, float(np.sqrt(scatter * coins / (2.0 * np.pi)).sum()))


def judged(
    monitored: Slice, yields: Yields, worth: Worth, clock_us: int, capacity: float
) -> Outlook:
    """Judge samples of two streams on the rows of the slice that have not expired.

    The value of a result is the product of those of its two rows, each over the mean of
    its stream, so it does not matter in which unit the values are.
    """
    valued = [_valued(monitored.ghosts(stream), stream, worth) for stream in (0, 1)]
    parts = []
    for stream, keep_us in enumerate(monitored.keep_us):
        mine, theirs = valued[stream], valued[1 - stream]
        keep = max(1, keep_us)
        lived = np.maximum(0, clock_us - mine.time) / keep
        there = lived <= 1.0
        mine = Ghosts._make(column[there] for column in mine)
        own = np.full(mine.key.size, stream)
        met, total, squares = matches_so_far(mine, theirs, keep)
        expected = yields.expected_matches(own, mine.key, clock_us)
        size = value_sizes(mine.importance)
        parts.append(Rows(expected, met, lived[there], size, total, squares))
    rows = Rows(*map(np.concatenate, zip(*parts, strict=True)))
    share = 1.0
    if monitored.share < 1.0:
        # Of all rows: the part of the keys says little if few of them are frequent.
        there_are = yields.rows_in_window(clock_us)
        share = min(1.0, rows.expected.size / there_are) if there_are else 1.0
    return outlook(rows, share, capacity)


def _valued(ghosts: Ghosts, stream: int, worth: Worth) -> Ghosts:
    """Ghosts of a stream with their importance over its mean."""
    own = np.full(ghosts.key.size, stream)
    return ghosts._replace(importance=worth.relative(own, ghosts.importance))


def pps_sizes(expected: FloatArray, mean: float) -> FloatArray:
    """Sizes by which PPS-CLUSTER includes rows; 1 on average.

    A part is given to all alike, which bounds the weight of a row that matches more
    often than was known when it came.
    """
    if mean <= 0.0:
        return np.ones(expected.size)
    return (1.0 - _EVEN) * expected / mean + _EVEN


def value_sizes(relative: FloatArray) -> FloatArray:
    """Sizes by which rows are included for their value, which is given over its mean.

    The sign of a value does not matter. A small value counts as a part of the mean.
    """
    return np.maximum(np.abs(relative), _LEAST_VALUE)


def matches_so_far(
    mine: Ghosts, theirs: Ghosts, keep_us: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows of the other stream that came after each row and within its life.

    Their number, and the sums of the values of these matches and of their squares; a
    value is the product of the importances of both rows.
    """
    order = np.lexsort((theirs.time, theirs.key))
    time = np.concatenate([theirs.time[order], mine.time])
    _, rank = np.unique(
        np.concatenate([theirs.key[order], mine.key]), return_inverse=True
    )
    if not rank.size:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    # One number line: keys one after the other, each long enough for a life.
    line = rank * (int(np.ptp(time)) + keep_us + 2) + (time - time.min())
    other, own = line[: order.size], line[order.size :]
    late = np.searchsorted(other, own + keep_us, side="right")
    early = np.searchsorted(other, own, side="left")
    value = theirs.importance[order]
    sums = [np.cumsum(np.append(0.0, column)) for column in (value, value**2)]
    total, squares = (column[late] - column[early] for column in sums)
    met = np.asarray(late - early, np.float64)
    return met, mine.importance * total, mine.importance**2 * squares
