"""Computes the clusters of a window: the results of each of its tuples."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from shedjoin.lab.plan.recall import AgeModel, FrequencyModel
from shedjoin.plan.model import FloatArray

Window: TypeAlias = FrequencyModel | AgeModel


class Clusters(NamedTuple):
    """Clusters of a window, for each kind of tuple; a cluster has a tuple's results."""

    arrivals: FloatArray
    """Tuples per time unit."""

    size: FloatArray
    """Mean number of results that each tuple yields in its window."""


def clusters(window: Window) -> Clusters:
    """Clusters of a window.

    Under a frequency model, there is one kind of tuple for each value. Under an age
    curve, all tuples are of one kind.
    """
    if isinstance(window, AgeModel):
        return Clusters(np.array([window.rate]), np.array([np.sum(window.curve)]))
    seen = window.opposite_rate * window.window
    return Clusters(
        window.rate * np.asarray(window.own), seen * np.asarray(window.opposite)
    )
