"""The parameter sets of the reference numbers for a limited CPU, and random ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.lab.plan import Costs, JoinLoad, ValueLoad
from shedjoin.plan.model import FloatArray


class Setting(NamedTuple):
    """A join and what its work costs; the CPU does 1 per time unit."""

    load: JoinLoad
    costs: Costs


def setting(*numbers: float) -> Setting:
    """Selectivity, both rates, both windows, and the costs of updates and matches."""
    return Setting(JoinLoad(*numbers[:5]), Costs(*numbers[5:]))


SETTINGS = {
    "A": setting(0.01, 100, 100, 10, 10, 0.001, 0.0005),
    "B": setting(0.01, 100, 100, 10, 10, 0.004, 0.0005),
    "C": setting(0.01, 200, 50, 10, 10, 0.002, 0.0005),
    "D": setting(0.005, 100, 100, 20, 5, 0.003, 0.001),
    "E": setting(0.1, 10, 10, 5, 5, 0.02, 0.02),
    "F": setting(0.01, 50, 50, 2, 2, 0.001, 0.0005),
}


def overloaded(rng: np.random.Generator, count: int) -> list[Setting]:
    """Random settings of all magnitudes whose full work exceeds 1."""
    found: list[Setting] = []
    lowest = np.log([1e-4, 1, 1, 0.1, 0.1, 1e-5, 1e-5])
    highest = np.log([1, 1e3, 1e3, 100, 100, 0.1, 0.1])
    while len(found) < count:
        drawn = setting(*np.exp(rng.uniform(lowest, highest)).tolist())
        if drawn.load.work(drawn.costs) > 1:
            found.append(drawn)
    return found


def by_value(
    left: FloatArray, right: FloatArray, rate: float, window: float
) -> ValueLoad:
    """Both streams at one rate and with one window."""
    return ValueLoad(rate * left, rate * right, window, window)
