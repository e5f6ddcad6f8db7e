"""Predicts the errors of the sampling schemes, to choose one of them."""

from __future__ import annotations

from math import hypot, sqrt
from typing import Literal, NamedTuple

from shedjoin.lab.plan.cluster_sampling import eq_fraction, pps_inclusion
from shedjoin.lab.plan.clusters import Window
from shedjoin.lab.plan.recall import AgeModel
from shedjoin.lab.plan.sampling import uniform_fraction
from shedjoin.lab.plan.sampling_error import (
    Aggregate,
    cluster_variance,
    uniform_missed,
    uniform_variance,
)
from shedjoin.plan.model import FloatArray

Scheme = Literal["eq_cluster", "pps_cluster", "uniform"]
"""EQ-CLUSTER, PPS-CLUSTER or UNIFORM."""


class SamplingErrors(NamedTuple):
    """Root mean square error of the estimated sum under each scheme.

    Examples
    --------
    >>> SamplingErrors(eq_cluster=3.0, pps_cluster=1.0, uniform=2.0).best
    'pps_cluster'
    """

    eq_cluster: float
    pps_cluster: float
    uniform: float

    @property
    def best(self) -> Scheme:
        """Scheme with the least error.

        If errors are equal, EQ-CLUSTER comes first, then PPS-CLUSTER.
        """
        if self.eq_cluster <= min(self.pps_cluster, self.uniform):
            return "eq_cluster"
        return "pps_cluster" if self.pps_cluster <= self.uniform else "uniform"


def sampling_errors(
    memory: float, window: Window, aggregate: Aggregate
) -> SamplingErrors:
    """Predict the error of a sum under each sampling scheme [1]_.

    Parameters
    ----------
    memory : float
        Tuples that the window may keep.
    window : FrequencyModel or AgeModel
        The window.
    aggregate : Aggregate
        What is summed.

    Returns
    -------
    SamplingErrors
        In the unit of the sum.

    Notes
    -----
    *Source.* Section 4.3.2 of [1]_ gives the criteria in words. One of them, the
    accuracy of the model itself, is not predicted. If it is in doubt, a cluster scheme
    is safer.

    *Departures.* Under an age curve, all clusters are equal, so that PPS-CLUSTER is the
    same as EQ-CLUSTER.

    *Guarantee.* For the results that UNIFORM misses, the mean is included, but not the
    variation.

    *Cost.* That of ``uniform_fraction``.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.lab.plan import FrequencyModel
    >>> window = FrequencyModel([0.1, 0.9], [0.99, 0.01], window=100)
    >>> sampling_errors(20, window, Aggregate(period=100)).best
    'pps_cluster'
    """
    equal = eq_fraction(memory, window)
    fraction = uniform_fraction(memory, window)
    sized: float | FloatArray = equal
    if not isinstance(window, AgeModel):
        sized = pps_inclusion(memory, window).probability
    exact = aggregate.period * aggregate.mean * window.results(window.demand)
    return SamplingErrors(
        sqrt(cluster_variance(equal, window, aggregate)),
        sqrt(cluster_variance(sized, window, aggregate)),
        hypot(
            sqrt(uniform_variance(fraction, window, aggregate)),
            uniform_missed(window) * exact,
        ),
    )
