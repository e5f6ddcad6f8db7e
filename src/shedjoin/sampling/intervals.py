"""Intervals from weighted rows in memory, by the same formulas as on an engine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.sampling.horvitz_thompson import (
    TRUSTED_FROM,
    ClusterSums,
    contribution,
    evaluate,
)
from shedjoin.sampling.student import log_quantile
from shedjoin.types import FloatArray, IntArray


class Interval(NamedTuple):
    """An estimate, its standard error and interval, and whether they can be trusted.

    ``effective`` is a number of clusters: the standard error is as reliable as one
    computed from this many clusters that all contribute the same variance. An interval
    is not trusted if this number is below 20, or if results may be missing for which no
    weight accounts. In the latter case, some of the sampled results have a negative
    cluster.
    """

    value: float
    error: float
    low: float
    high: float
    effective: float
    trusted: bool


def cluster_interval(
    weight: FloatArray,
    cluster: IntArray,
    value: FloatArray | None = None,
    *,
    mean: bool = False,
    level: float = 0.95,
) -> Interval:
    """Estimate a count, a sum or a mean over all results from a sample of them.

    Parameters
    ----------
    weight, cluster : array
        Weight and cluster of each result in the sample.
    value : array, optional
        What is added up. Without it, results are counted.
    mean : bool
        Estimate the mean of the values instead of their sum.
    level : float, default 0.95
        Confidence level: the share of the intervals that contain the exact value.

    Examples
    --------
    Two of four clusters, each with one result of value 3:

    >>> import numpy as np
    >>> twice, threes = np.full(2, 2.0), np.full(2, 3.0)
    >>> found = cluster_interval(twice, np.array([1, 2]), threes)
    >>> found.value, round(found.error, 6), found.effective
    (12.0, 6.0, 2.0)
    """
    _, owner = np.unique(cluster, return_inverse=True)
    ones = np.ones(weight.size)
    numerator = _sums(owner, weight, ones if value is None else value)
    denominator = _sums(owner, weight, ones) if mean else None
    total = float(numerator.weighted.sum())
    count = float(denominator.weighted.sum()) if denominator else 1.0
    ratio = np.float64(total / count if count else 0.0)
    each = contribution(numerator, denominator)
    variance = np.maximum(evaluate(each, np.full(numerator.weighted.size, ratio)), 0.0)
    whole, squares = float(variance.sum()), float((variance**2).sum())
    effective = whole**2 / squares if squares else float(variance.size)
    error = float(np.sqrt(whole)) / count if count else 0.0
    exponent = evaluate(list(log_quantile(level)), 1.0 / max(effective, 1.0))
    reach = float(np.exp(exponent)) * error
    found = float(ratio) if mean else total
    low = found - reach
    if value is None:
        low = max(low, float(weight.size))
    enough = effective >= TRUSTED_FROM or bool((weight <= 1.0).all())
    trusted = enough and not bool((cluster < 0).any())
    return Interval(found, error, low, found + reach, effective, trusted)


def _sums(
    owner: IntArray, weight: FloatArray, value: FloatArray
) -> ClusterSums[FloatArray]:
    weighted = np.bincount(owner, weights=weight * value).astype(np.float64)
    rooted = np.bincount(owner, weights=np.sqrt(weight) * value).astype(np.float64)
    return ClusterSums(weighted, rooted)
