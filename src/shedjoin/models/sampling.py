"""Which sample of the join has the least variance, and how large a sample fits.

Both are computed from the monitored slice, whose rows and matches are all known. A
sample estimates the number of results, or the sum of their values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.models.monitored import Ghosts, Slice
from shedjoin.models.worth import Worth
from shedjoin.models.yields import Yields
from shedjoin.types import FloatArray

_PPS, _UNIFORM = 1, 2
"""Indices of the schemes in the variances; EQ-CLUSTER is first."""
_EVEN = 0.1
"""Part of PPS-CLUSTER's sizes that is equal for all rows."""
_LEAST_VALUE = 0.05
"""Least size of a row, as a part of the mean value, so that every row has a chance."""
_BIAS = 5.0
"""Factor by which a bias counts more than a random error of the same size. Intervals do
not include a bias. They stay valid only if it is at most a fifth of the error."""
_OLD = 0.75
"""A row is used to predict variances when this part of its window has passed."""


class Rows(NamedTuple):
    """Monitored rows of all streams."""

    expected: FloatArray  # predicted matches over their whole life
    met: FloatArray  # matches so far
    lived: FloatArray  # part of their life so far
    value: FloatArray  # size by their own value, 1 on average
    total: FloatArray  # sum of the values of their matches so far
    squares: FloatArray  # sum of the squares of these values


class Outlook(NamedTuple):
    """Prediction for samples: a fraction for UNIFORM, and the variance of each scheme.

    The fraction is the part of the results for which UNIFORM has room.
    """

    fraction: float
    variance: tuple[float, float, float]

    @property
    def best(self) -> int:
        """Index of the scheme with the least variance; EQ-CLUSTER if none is known."""
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
    """Outlook that was stored, or a default if nothing is known."""
    known, fraction, eq, pps, uniform = words.tolist()
    return Outlook(fraction, (eq, pps, uniform)) if known else _UNKNOWN


def outlook_words(found: Outlook) -> tuple[float, ...]:
    """Numbers to store for an outlook."""
    return 1.0, found.fraction, *found.variance


def outlook(rows: Rows, share: float, capacity: float) -> Outlook:
    """Predict variances of the schemes of Srivastava and Widom, section 4.

    Parameters
    ----------
    rows : Rows
        Rows of monitored keys.
    share : float
        Part of all rows that is monitored.
    capacity : float
        Rows that fit the memory, over all keys.

    Notes
    -----
    Section 4.3.2 names three criteria. *Accuracy of n(s)*: if rows match more often
    than predicted, UNIFORM never samples the additional matches. This bias is
    multiplied by five. *Inter-cluster variance* and *cluster sizes*: under EQ and PPS,
    a row whose matches have the values y adds sum(y)^2 (1/p - 1) to the variance of the
    sum of all values, where p is the probability of the row. Under UNIFORM, it adds
    sum(y^2) (1/p - 1), where p is the probability of a match. If rows have no values,
    every y is 1, and the sum is the count. If rows have values, p depends on the values
    under EQ and PPS.
    """
    # Only samples need scipy: other workers start faster without it.
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
    """Matches that UNIFORM misses, because rows have more matches than coins.

    This is the observed number or the expected number, whichever is greater. The
    observed number is partly chance, because few monitored rows have many matches. If
    the matches of a row with n coins have a Poisson distribution, sqrt(n / 2 pi) of
    them are missed on average. If the observed matches vary less, the expected number
    is reduced.
    """
    seen = float(np.maximum(met - coins, 0.0).sum())
    scatter = min(1.0, float(np.mean((met - coins) ** 2 / coins)))
    return max(seen, float(np.sqrt(scatter * coins / (2.0 * np.pi)).sum()))


def judged(
    monitored: Slice, yields: Yields, worth: Worth, clock_us: int, capacity: float
) -> Outlook:
    """Predict variances of samples from the monitored rows that have not expired.

    The value of a result is the product of the values of its two rows. Each of them is
    divided by the mean of its stream, so that the unit of the values does not matter.
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
        # This is the share of the rows. The share of the keys may differ much from it
        # if few keys are frequent.
        there_are = yields.rows_in_window(clock_us)
        share = min(1.0, rows.expected.size / there_are) if there_are else 1.0
    return outlook(rows, share, capacity)


def _valued(ghosts: Ghosts, stream: int, worth: Worth) -> Ghosts:
    """Ghosts of a stream, with importances divided by their mean."""
    own = np.full(ghosts.key.size, stream)
    return ghosts._replace(importance=worth.relative(own, ghosts.importance))


def pps_sizes(expected: FloatArray, mean: float) -> FloatArray:
    """Cluster sizes of rows for PPS-CLUSTER, with a mean of 1.

    A part of the size is equal for all rows. This part limits the weight of a row that
    matches more often than was predicted when it came.
    """
    if mean <= 0.0:
        return np.ones(expected.size)
    return (1.0 - _EVEN) * expected / mean + _EVEN


def value_sizes(relative: FloatArray) -> FloatArray:
    """Cluster sizes of rows for samples by value.

    ``relative`` is the value of a row over the mean value. Its sign does not matter.
    Values below 5 % of the mean are taken as 5 % of the mean.
    """
    return np.maximum(np.abs(relative), _LEAST_VALUE)


def matches_so_far(
    mine: Ghosts, theirs: Ghosts, keep_us: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Count the rows of the other stream that came after each row and within its life.

    Returns their number, the sum of the values of these matches, and the sum of the
    squares. The value of a match is the product of the importances of both rows.
    """
    order = np.lexsort((theirs.time, theirs.key))
    time = np.concatenate([theirs.time[order], mine.time])
    _, rank = np.unique(
        np.concatenate([theirs.key[order], mine.key]), return_inverse=True
    )
    if not rank.size:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    # All keys and times are on one number line. Each key has a range of its own, which
    # is longer than a window.
    line = rank * (int(np.ptp(time)) + keep_us + 2) + (time - time.min())
    other, own = line[: order.size], line[order.size :]
    late = np.searchsorted(other, own + keep_us, side="right")
    early = np.searchsorted(other, own, side="left")
    value = theirs.importance[order]
    sums = [np.cumsum(np.append(0.0, column)) for column in (value, value**2)]
    total, squares = (column[late] - column[early] for column in sums)
    met = np.asarray(late - early, np.float64)
    return met, mine.importance * total, mine.importance**2 * squares
