"""Clusters of a window: the results of one tuple."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from shedjoin.lab.plan.recall import AgeModel, FrequencyModel
from shedjoin.plan.model import FloatArray

Window: TypeAlias = FrequencyModel | AgeModel


class Clusters(NamedTuple):
    """Clusters, each of the results of one tuple; one row for each kind of tuple."""

    arrivals: FloatArray
    """Tuples per time unit."""

    size: FloatArray
    """Mean number of results that each tuple yields in its window."""


def clusters(window: Window) -> Clusters:
    """Clusters of a window: one for each value, or one for all under an age curve."""
    if isinstance(window, AgeModel):
        return Clusters(np.array([window.rate]), np.array([np.sum(window.curve)]))
    seen = window.opposite_rate * window.window
    return Clusters(
        window.rate * np.asarray(window.own), seen * np.asarray(window.opposite)
    )
