"""Scores of basic windows: where in a window the matches lie, from observed lags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.plan.model import FloatArray, Numbers, numbers, positive
from shedjoin.types import IntArray

Scores: TypeAlias = tuple[tuple[FloatArray, ...], ...]
"""Scores of basic windows: ``scores[i][l]`` for direction i and stream l. The array is
empty if l is i, since arrivals are not joined with their own stream."""


@dataclass(frozen=True, slots=True, eq=False)
class LagHistogram:
    """Histogram of how much later rows are than matching rows of the first stream.

    Parameters
    ----------
    lowest, highest : float
        Range of the lags in time units: minus the window of the stream, and the window
        of the first stream.
    counts : sequence of float
        Number of results in each bucket of lags; all buckets are equally wide.

    Notes
    -----
    *Source.* Section 5.2.2 of [1]_.

    *Symbols.* The histogram L_i, with counts divided by their sum, of the lag A_i1.

    *Guarantee.* Lags are taken to be spread evenly within a bucket. With 40 buckets for
    a range of 20 s and lags that scatter by 1 s, scores are off by at most 0.009. With
    20 buckets they are off by at most 0.034.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> lags = LagHistogram(-10, 10, counts=[0, 1, 3, 0])
    >>> lags.below([-5, 0, 2.5]).tolist()
    [0.0, 0.25, 0.625]
    """

    lowest: float
    highest: float
    counts: Numbers
    edges: FloatArray = field(init=False, repr=False)
    shares: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not -np.inf < self.lowest < self.highest < np.inf:
            raise ParameterError(
                f"lowest={self.lowest!r}, highest={self.highest!r} is not a range.",
                fix="pass a finite number and a greater one, e.g. lowest=-10, "
                "highest=10.",
            )
        counts = numbers("counts", self.counts)
        with np.errstate(over="ignore"):  # refused below
            total = counts.sum()
        if not 0 < total < np.inf:
            raise ParameterError(
                f"counts sum to {total:g}: they say nothing about lags.",
                fix="pass counts of at least one result, or use flat_scores until "
                "there is one.",
            )
        edges = np.linspace(self.lowest, self.highest, counts.size + 1)
        object.__setattr__(self, "counts", tuple(counts.tolist()))
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "shares", counts / total)

    def below(self, lags: Numbers) -> FloatArray:
        """Share of the results whose lags are smaller, for each of ``lags``."""
        reached = np.concatenate(([0.0], np.cumsum(self.shares)))
        return np.asarray(np.interp(lags, self.edges, reached))


def lag_scores(
    lags: Sequence[LagHistogram], width: float, counts: Sequence[int]
) -> Scores:
    """Shares of the matches that lie in each basic window, from observed lags [1]_.

    Parameters
    ----------
    lags : sequence of LagHistogram
        Lags of every stream but the first, relative to the first.
    width : float
        Length of a basic window in time units.
    counts : sequence of int
        Number of basic windows of each stream, including the first.

    Returns
    -------
    tuple of tuples of FloatArray
        Scores by direction, stream and basic window, for ``HarvestLoad``.

    Notes
    -----
    *Source.* Equations 1 and 2 of [1]_.

    *Symbols.* ``width`` b, ``counts`` n_i. ``scores[i][l][k]`` is p_ij^k, where j is
    the hop at which direction i joins stream l: l = r_ij.

    *Departures.* Equation 2 needs a histogram for the first stream, which the paper
    does not give. Here, the lag of the first stream to itself is always 0.

    *Guarantee.* As for ``LagHistogram``, if the lags of different streams to the first
    stream are independent. The scores of a direction and stream sum to at most 1. The
    remaining matches are found by another direction.

    *Cost.* O(m^2 n B log B) for m streams, n basic windows and B buckets.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    Rows of the second stream come 0 to 2 after those of the first that they match:

    >>> second = LagHistogram(-4, 4, counts=[0, 0, 4, 0])
    >>> scores = lag_scores([second], width=1, counts=[4, 4])
    >>> scores[1][0].tolist(), scores[0][1].tolist()
    ([0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0])
    """
    positive("width", width)
    if len(counts) != len(lags) + 1:
        raise ParameterError(
            f"counts={list(counts)!r} and {len(lags)} histograms do not fit together.",
            fix="pass one count for each stream, and one histogram for each but the "
            "first.",
        )
    ages = [float(width) * np.arange(_whole(count) + 1.0) for count in counts]
    return tuple(
        tuple(
            _scores(lags, i, stream, ages[stream]) if i != stream else np.empty(0)
            for stream in range(len(counts))
        )
        for i in range(len(counts))
    )


def flat_scores(counts: Sequence[int]) -> Scores:
    """Equal scores for all basic windows, for use when nothing is known about lags.

    Parameters
    ----------
    counts : sequence of int
        Number of basic windows of each stream.

    Returns
    -------
    tuple of tuples of FloatArray
        Scores by direction, stream and basic window, for ``HarvestLoad``.

    Examples
    --------
    >>> flat_scores([2, 4])[0][1].tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    return tuple(
        tuple(
            np.full(_whole(count), 1 / count) if i != stream else np.empty(0)
            for stream, count in enumerate(counts)
        )
        for i in range(len(counts))
    )


def ranking(scores: Numbers) -> IntArray:
    """Basic windows in descending order of score; ties go to the youngest rows.

    Examples
    --------
    >>> ranking([0.1, 0.5, 0.3, 0.5]).tolist()
    [1, 3, 2, 0]
    """
    return np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")


def _scores(
    lags: Sequence[LagHistogram], i: int, stream: int, ages: FloatArray
) -> FloatArray:
    """Share of the matches by age of ``stream``'s row when direction i finds them."""
    if i == 0:
        below = lags[stream - 1].below(-ages)
        return below[:-1] - below[1:]
    if stream == 0:
        return np.diff(lags[i - 1].below(ages))
    met = lags[stream - 1]
    middles = (met.edges[1:] + met.edges[:-1]) / 2
    within = np.diff(lags[i - 1].below(ages[:, None] + middles), axis=0)
    return np.asarray(within @ met.shares)


def _whole(count: int) -> int:
    if not (count >= 1 and count % 1 == 0):
        raise ParameterError(
            f"counts has {count!r}, which is no number of basic windows.",
            fix="cut each window into 1 or more, e.g. counts=[10, 10, 10].",
        )
    return int(count)
