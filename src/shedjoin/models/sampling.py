"""Which sample of the join would tell most, and how large one fits the memory.

Both are worked out on the monitored slice, of which all rows and matches are known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.models.monitored import Ghosts
from shedjoin.types import FloatArray

_PPS, _UNIFORM = 1, 2
"""Places of schemes among the variances; EQ-CLUSTER is first."""
_EVEN = 0.1
"""PPS-CLUSTER's part that is given to all rows alike."""
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


class Outlook(NamedTuple):
    """What a sample can reach: UNIFORM's fraction, variances of a count by scheme."""

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
    *Inter-cluster variance* and *cluster sizes*: of EQ and PPS, a row with m matches
    adds m^2 (1/p - 1) to the variance of the count.
    """
    # Only samples need scipy: other workers start without it.
    from shedjoin.plan.cluster_sampling import pps_scale
    from shedjoin.plan.coins import largest_fraction, last_success, whole_coins

    room = capacity * share
    if rows.expected.size <= room or room < 1.0:
        return Outlook(1.0, (0.0, 0.0, 0.0))
    coins = whole_coins(rows.expected)
    fraction = largest_fraction(lambda p: float(last_success(p, coins).sum()), room)
    old = rows.lived >= _OLD
    if not old.any():
        return Outlook(fraction, (0.0, 0.0, 0.0))
    met = rows.met[old] / rows.lived[old]
    size = pps_sizes(rows.expected, rows.expected.mean())
    scale = pps_scale(room, np.ones(size.size), size)
    chance = np.minimum(1.0, scale * size[old])
    eq = np.sum(met**2) * (rows.expected.size / room - 1.0)
    pps = np.sum(met**2 * (1.0 / chance - 1.0))
    uniform = np.sum(np.minimum(met, coins[old])) * (1.0 / fraction - 1.0)
    missed = _missed(met, coins[old]) / np.sqrt(share)
    variances = float(eq), float(pps), float(uniform + (_BIAS * missed) ** 2)
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


def pps_sizes(expected: FloatArray, mean: float) -> FloatArray:
    """Sizes by which PPS-CLUSTER includes rows; 1 on average.

    A part is given to all alike, which bounds the weight of a row that matches more
    often than was known when it came.
    """
    if mean <= 0.0:
        return np.ones(expected.size)
    return (1.0 - _EVEN) * expected / mean + _EVEN


def matches_so_far(mine: Ghosts, theirs: Ghosts, keep_us: int) -> FloatArray:
    """Rows of the other streams that came after each row and within its life."""
    order = np.lexsort((theirs.time, theirs.key))
    time = np.concatenate([theirs.time[order], mine.time])
    _, rank = np.unique(
        np.concatenate([theirs.key[order], mine.key]), return_inverse=True
    )
    if not rank.size:
        return np.zeros(0)
    # One number line: keys one after the other, each long enough for a life.
    line = rank * (int(np.ptp(time)) + keep_us + 2) + (time - time.min())
    other, own = line[: order.size], line[order.size :]
    late = np.searchsorted(other, own + keep_us, side="right")
    early = np.searchsorted(other, own, side="left")
    return np.asarray(late - early, np.float64)
