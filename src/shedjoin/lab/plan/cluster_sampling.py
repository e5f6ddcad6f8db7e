"""Cluster sampling in a memory: a tuple is kept with all its results, or not at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.lab.plan.recall import FrequencyModel
from shedjoin.plan.cluster_sampling import pps_scale
from shedjoin.plan.model import FloatArray, Model, at_least_zero


class Inclusion(NamedTuple):
    """Probability with which PPS-CLUSTER keeps a tuple, for each value.

    Examples
    --------
    >>> import numpy as np
    >>> Inclusion(scale=2.0, probability=np.array([1.0, 0.5])).scale
    2.0
    """

    scale: float
    probability: FloatArray


def eq_fraction(memory: float, *windows: Model) -> float:
    """Probability with which EQ-CLUSTER keeps a tuple, whatever its value [1]_.

    Notes
    -----
    *Source.* Strategy 2, section 4.3.1 of [1]_.

    *Departures.* Values that are left out of a frequency model are never kept, because
    they have no matches.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> eq_fraction(1, AgeModel([1, 1, 2, 1]))
    0.25
    """
    at_least_zero("memory", memory)
    demand = sum(window.demand for window in windows)
    return min(1.0, memory / demand) if demand > 0 else 1.0


def pps_inclusion(memory: float, window: FrequencyModel) -> Inclusion:
    """Probabilities in proportion to matches, with which PPS-CLUSTER keeps tuples [1]_.

    Parameters
    ----------
    memory : float
        Tuples that the window may keep.
    window : FrequencyModel
        The window.

    Returns
    -------
    Inclusion
        ``probability`` is ``min(1, scale * opposite)`` for each value.

    Notes
    -----
    *Source.* Strategy 3 and footnote 2, section 4.3.1 of [1]_.

    *Symbols.* ``scale`` is p, ``own`` is f1, ``opposite`` is f2.

    *Departures.* The footnote describes an iteration. Here the scale is computed
    directly: as the scale rises, memory is linear in it until the probability of one
    more value reaches 1. If all values with matches are kept with certainty, values
    without matches get the remaining memory.

    *Guarantee.* The expected memory is ``memory``, or the demand if that is less.

    *Cost.* O(n log n) for n values.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.lab.plan import FrequencyModel
    >>> window = FrequencyModel([0.2, 0.8], [0.75, 0.25], window=10)
    >>> found = pps_inclusion(4, window)
    >>> round(found.scale, 9), found.probability.round(9).tolist()
    (1.142857143, [0.857142857, 0.285714286])
    """
    at_least_zero("memory", memory)
    stored = window.rate * window.window * np.asarray(window.own)
    opposite = np.asarray(window.opposite)
    matched = opposite > 0
    scale = pps_scale(memory, stored[matched], opposite[matched])
    probability = np.minimum(1.0, scale * opposite)
    unmatched = stored[~matched].sum()
    if unmatched > 0:
        left = max(0.0, memory - stored[matched].sum())
        probability[~matched] = min(1.0, left / unmatched)
    return Inclusion(scale, probability)
