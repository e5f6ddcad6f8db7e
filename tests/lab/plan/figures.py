"""The joins behind the figures of Srivastava and Widom (VLDB 2004), section 6.2.

The reading that yields their numbers: only the first window counts; it is 500 time
units long with one arrival per unit. An age curve has 20 buckets of 25 units, counted
from 1, and five results per tuple in all; ``0 ** 0`` is 1. Values are 50, Zipf of
parameter Z; "20 % memory" is 20 % of the tuples in the windows of both joins.
"""

from __future__ import annotations

import numpy as np

from shedjoin.lab.plan import AgeModel, FrequencyModel
from shedjoin.plan.model import FloatArray

WINDOW = 500
BUCKETS = 20
VALUES = 50
RESULTS = 5.0

BUCKET = np.arange(1.0, BUCKETS + 1)


def age_model(weights: FloatArray, rate: float = 1.0) -> AgeModel:
    length = WINDOW // BUCKETS
    return AgeModel(np.repeat(RESULTS * weights / weights.sum() / length, length), rate)


def increasing(exponent: float = 2.0) -> AgeModel:
    return age_model(BUCKET**exponent)


def decreasing(exponent: float = 2.0) -> AgeModel:
    return age_model((BUCKETS - BUCKET) ** exponent)


def bell() -> AgeModel:
    falling = (BUCKETS - BUCKET) ** 2
    return age_model(np.where(BUCKET <= BUCKETS / 2, BUCKET**2, falling))


def zipf(parameter: float) -> FloatArray:
    weights = np.arange(1.0, VALUES + 1) ** -parameter
    shares: FloatArray = weights / weights.sum()
    return shares


def direct(parameter: float) -> FrequencyModel:
    """Common on one stream, common on the other (DC)."""
    shares = zipf(parameter)
    return FrequencyModel(shares, shares, WINDOW, rate=1, opposite_rate=5)


def inverse(parameter: float) -> FrequencyModel:
    """Common on one stream, rare on the other (IC)."""
    shares = zipf(parameter)
    return FrequencyModel(shares[::-1], shares, WINDOW, rate=1, opposite_rate=5)
