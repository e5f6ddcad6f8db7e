"""The meter: estimates how many results of the exact join were missed.

Results of frequent keys are counted exactly. Results of other keys are estimated from
the monitored keys, which are a random sample: the results that these keys miss are
divided by the share of keys that is monitored. The estimate is then corrected by two
numbers that are known for all keys: the results found, and the rows that arrived. If
the monitored keys had less than their share of found results or rows, they probably had
less than their share of missed results. How much less is learned by a regression over
groups of the monitored keys: of their missed results on the other two numbers.

Monitored keys are divided into groups by a hash. The uncertainty of the estimate
follows from how much it changes if one of the groups is left out (the jackknife).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shedjoin.models.words import Shape, reals
from shedjoin.types import BoolArray, FloatArray, IntArray

GROUPS = 32
_EXACT, _FOUND, _WORTH, _GAINED, _ROWS = range(5)
"""Columns of the sums over monitored keys: results of the exact join, results found,
the importance of both, and then the rows of each stream."""
_RIDGE = 1.0 / GROUPS
"""Part of the variance of each column that is taken for noise (ridge regression)."""
_ALONE = 1.0
"""The variance allows for this number of missed results, even if none was observed."""
_WEIGHTS = np.column_stack(
    [np.ones(GROUPS), (1.0 - np.eye(GROUPS)) * GROUPS / (GROUPS - 1)]
)
"""Columns of weights of the groups. The first column has all groups. Each of the others
leaves one group out, and is scaled (the jackknife)."""


class Metered(NamedTuple):
    """Arrivals with their results: results of the exact join, and results found.

    ``frequent`` marks rows whose key is counted exactly. ``watched`` marks rows whose
    key is monitored.
    """

    stream: IntArray
    frequent: BoolArray
    watched: BoolArray
    group: IntArray
    exact: FloatArray
    found: FloatArray
    worth: FloatArray
    gained: FloatArray


class Results(NamedTuple):
    """Results that each arrival has found, and their importance."""

    found: FloatArray
    gained: FloatArray

    def part(self, at: slice) -> Results:
        """Results of some of the arrivals."""
        return Results(self.found[at], self.gained[at])


class Missed(NamedTuple):
    """Results that were missed, and their importance, each with its variance."""

    results: float = 0.0
    variance: float = 0.0
    importance: float = 0.0
    importance_variance: float = 0.0


class Meter:
    """Estimates missed results, for each micro-batch and since the beginning.

    Parameters
    ----------
    room : sequence of arrays
        Arrays of the shapes that :meth:`shapes` gives.
    streams : int
        Number of streams.
    """

    @staticmethod
    def shapes(streams: int) -> tuple[Shape, ...]:
        """Shapes of the arrays: faded sums by group, and jackknife estimates."""
        return (GROUPS, _ROWS + streams), (GROUPS, 2)

    def __init__(self, room: Sequence[IntArray], streams: int) -> None:
        self._lately, self._left = map(reals, room)
        self._streams = streams
        self.begin()

    def begin(self) -> None:
        """Begin to count a micro-batch."""
        self._groups = np.zeros((GROUPS, _ROWS + self._streams))
        self._all = np.zeros(_ROWS + self._streams)
        self._frequent = np.zeros(_ROWS)

    def go_on(self, former: Meter) -> None:
        """Continue the count of a micro-batch that another meter began."""
        self._groups, self._all = former._groups, former._all
        self._frequent = former._frequent

    def add(self, rows: Metered, share: float) -> None:
        """Count arrivals. ``share`` is the part of all keys that is monitored."""
        columns = rows.exact, rows.found, rows.worth, rows.gained
        light = ~rows.frequent
        for at, column in enumerate(columns):
            total, frequent = column.sum(), column[rows.frequent].sum()
            self._frequent[at] += frequent
            self._all[at] += total - frequent  # only those of found results are read
        mine = np.flatnonzero(rows.watched & light)
        group = rows.group[mine]
        for at, column in enumerate(columns):
            counted = np.bincount(group, column[mine], minlength=GROUPS)
            self._groups[:, at] += counted / share
        cell = group * self._streams + rows.stream[mine]
        arrived = np.bincount(cell, minlength=GROUPS * self._streams) / share
        self._groups[:, _ROWS:] += arrived.reshape(GROUPS, -1)
        self._all[_ROWS:] += np.bincount(rows.stream[light], minlength=self._streams)

    @property
    def exact(self) -> float:
        """Results of the exact join in this micro-batch, without any correction."""
        return float(self._frequent[_EXACT] + self._groups[:, _EXACT].sum())

    def end(self, share: float, fade: float) -> tuple[Missed, Missed]:
        """Estimate what this micro-batch missed, and how certain all estimates are.

        The first value has the estimates for this micro-batch, with their variances.
        The second has variances only: those of the sums of the estimates of all
        micro-batches. These are not independent, because the same keys are monitored
        all the time. Sums of former micro-batches are multiplied by ``fade``.
        """
        self._lately *= fade
        self._lately += self._groups
        found = [
            self._estimate(share, _EXACT, _FOUND, 0),
            self._estimate(share, _WORTH, _GAINED, 1),
        ]
        (results, variance), (importance, importance_variance) = found
        left = [self._variance(share, self._left[:, at]) for at in range(2)]
        return (
            Missed(results, variance, importance, importance_variance),
            Missed(0.0, left[0], 0.0, left[1]),
        )

    def _estimate(
        self, share: float, exact: int, found: int, kind: int
    ) -> tuple[float, float]:
        """Estimate the missed results, or their importance, and the variance."""
        frequent = self._frequent[exact] - self._frequent[found]
        missed = self._groups[:, exact] - self._groups[:, found]
        if share >= 1.0:
            return float(frequent + missed.sum()), 0.0
        by = [found, *range(_ROWS, _ROWS + self._streams)]
        lately = self._lately[:, exact] - self._lately[:, found]
        slope = _slopes(self._lately[:, by], lately, _WEIGHTS)
        left = missed @ _WEIGHTS - (self._groups[:, by].T @ _WEIGHTS * slope).sum(0)
        total = frequent + left + self._all[by] @ slope
        self._left[:, kind] += total[1:]
        return float(total[0]), self._variance(share, total[1:])

    def _variance(self, share: float, without: FloatArray) -> float:
        """Variance of an estimate, from the estimates that leave out one group each.

        The variance is above zero even if no monitored key has missed a result.
        """
        if share >= 1.0 or not self._lately[:, _ROWS:].any():
            return 0.0
        scatter = (GROUPS - 1) / GROUPS * ((without - without.mean()) ** 2).sum()
        return float((1.0 - share) * (scatter + (_ALONE / share) ** 2))


def _slopes(by: FloatArray, missed: FloatArray, weights: FloatArray) -> FloatArray:
    """Slopes of missed results on the columns of ``by``, by weighted least squares.

    Each column of ``weights`` gives a column of slopes.
    """
    total = weights.sum(axis=0)
    by = by[None] - (by.T @ weights / total).T[:, None]
    missed = missed[None] - (missed @ weights / total)[:, None]
    weighted = by * weights.T[:, :, None]
    products = by.transpose(0, 2, 1) @ weighted
    size = np.sqrt(np.einsum("...ii->...i", products))
    size = np.where(size > 0.0, size, 1.0)
    matrix = products / (size[:, :, None] * size[:, None]) + _RIDGE * np.eye(
        by.shape[2]
    )
    right = (weighted * missed[:, :, None]).sum(axis=1) / size
    return (np.linalg.solve(matrix, right[:, :, None])[:, :, 0] / size).T
