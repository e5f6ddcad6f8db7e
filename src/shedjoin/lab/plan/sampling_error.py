"""Predicts the error of a sum over a sampled join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from shedjoin.errors import ParameterError
from shedjoin.lab.plan.clusters import Window, clusters
from shedjoin.plan.coins import whole_coins
from shedjoin.plan.model import FloatArray, as_share, not_negative, positive


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A sum over the results of the tuples that arrive in a period; or their count.

    Parameters
    ----------
    period : float
        Length of the period in time units.
    mean, sd : float, default 1.0 and 0.0
        Mean and standard deviation of the value that is summed. The default counts
        results. For an average, pass ``mean=0``. The error is then that of the sum of
        deviations from the average. Divided by the count, it is the error of the
        average.
    of : {"own", "opposite"}, default "own"
        Stream whose tuples have the value. With "own", all results of a tuple have the
        same value, which is the worst case for clusters.

    Examples
    --------
    >>> Aggregate(period=500)
    Aggregate(period=500, mean=1.0, sd=0.0, of='own')
    """

    period: float
    mean: float = 1.0
    sd: float = 0.0
    of: Literal["own", "opposite"] = "own"

    def __post_init__(self) -> None:
        positive("period", self.period)
        not_negative("sd", self.sd)
        if not np.isfinite(self.mean):
            raise ParameterError(
                f"mean={self.mean!r} is not finite.",
                fix="pass the mean of the summed value, e.g. mean=1.0.",
            )
        if self.of not in ("own", "opposite"):
            raise ParameterError(
                f"of={self.of!r} is not a stream.", fix="pass 'own' or 'opposite'."
            )


def cluster_variance(
    inclusion: float | FloatArray, window: Window, aggregate: Aggregate
) -> float:
    """Variance of a sum when whole clusters are sampled and weighted [1]_.

    Parameters
    ----------
    inclusion : float or array
        Probability with which a tuple is kept. It is one number for all tuples, as
        ``eq_fraction`` returns, or one for each value, as ``pps_inclusion`` returns.
    window : FrequencyModel or AgeModel
        The window.
    aggregate : Aggregate
        What is summed.

    Returns
    -------
    float
        Variance around the exact sum. It is infinite if a value with matches is never
        kept.

    Notes
    -----
    *Source.* Section 4.3 of [1]_. It names two criteria, cluster sizes and the variance
    between clusters, and refers to the literature for formulas. The formula here is the
    Horvitz-Thompson variance of independent draws.

    *Departures.* The number of results of a tuple is taken as a Poisson count.

    *Guarantee.* An expectation. If most of the sum is in a few large clusters, the
    error of a single period can be far from it.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> cluster_variance(0.5, AgeModel([1, 1]), Aggregate(period=100))
    600.0
    """
    arrivals, size = clusters(window)
    chance = _chances(inclusion, size.size)
    pairs = size**2 + size
    alike = pairs if aggregate.of == "own" else size
    square = aggregate.mean**2 * pairs + aggregate.sd**2 * alike
    weight = arrivals * square
    odds = np.divide(
        1 - chance, chance, out=np.full(size.shape, np.inf), where=chance > 0
    )
    return aggregate.period * float(weight @ np.where(weight > 0, odds, 0.0))


def uniform_variance(fraction: float, window: Window, aggregate: Aggregate) -> float:
    """Variance of a sum when each result is sampled by a coin of its own.

    This assumes that there is a coin for every result. The error by results without a
    coin is in addition to it: see ``uniform_missed``.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> uniform_variance(0.5, AgeModel([1, 1]), Aggregate(period=100))
    200.0
    """
    as_share("fraction", fraction)
    arrivals, size = clusters(window)
    square = aggregate.mean**2 + aggregate.sd**2
    weight = float(arrivals @ size) * square
    if weight == 0:
        return 0.0
    odds = (1 - fraction) / fraction if fraction > 0 else np.inf
    return aggregate.period * weight * odds


def uniform_missed(window: Window) -> float:
    """Share of the results that UNIFORM never samples: those without a coin.

    The number of results of a tuple is taken as a Poisson count. The number of its
    coins is the mean of this count. So some results are missed with any memory, and the
    error stays above 0.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> round(uniform_missed(AgeModel([1, 1])), 4)
    0.2707
    """
    arrivals, size = clusters(window)
    results = float(arrivals @ size)
    return float(arrivals @ _beyond_coins(size)) / results if results > 0 else 0.0


def _chances(inclusion: float | FloatArray, values: int) -> FloatArray:
    chance = np.asarray(inclusion, dtype=np.float64)
    usable = ((chance >= 0) & (chance <= 1)).all()
    if not usable or chance.shape not in {(), (values,)}:
        raise ParameterError(
            f"inclusion={inclusion!r} is no probability for each of {values} values.",
            fix="pass one number from 0 to 1, or one for each value of the window.",
        )
    return np.broadcast_to(chance, (values,))


def _beyond_coins(size: FloatArray) -> FloatArray:
    """Mean excess of a Poisson count over the whole number of coins."""
    coins = whole_coins(size)
    beyond: FloatArray = size * special.gammainc(coins, size)
    beyond -= coins * special.gammainc(coins + 1, size)
    return np.maximum(0.0, beyond)
