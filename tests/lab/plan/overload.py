"""The parameter sets of the reference numbers for a limited CPU, and random ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from shedjoin.lab.plan import Costs, JoinLoad, ValueLoad
from shedjoin.plan.model import FloatArray

from .figures import zipf


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


TINY = by_value(np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.3, 0.6]), 10, 5)
TINY_COSTS = Costs(update=0.05, match=0.01)

DIRECT = by_value(zipf(1), zipf(1), 100, 10)
INVERSE = by_value(zipf(1)[::-1], zipf(1), 100, 10)
STEEP_INVERSE = by_value(zipf(2)[::-1], zipf(2), 100, 10)
STEEP_DIRECT = by_value(zipf(2), zipf(2), 100, 10)

rates = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8
)
loads = st.builds(
    lambda pairs, *windows: ValueLoad(*np.transpose(pairs), *windows),
    rates,
    st.integers(0, 5),
    st.integers(0, 5),
)
price = st.one_of(st.just(0.0), st.floats(1e-3, 1))
prices = st.builds(Costs, price, price)
