"""Joins of several streams to harvest, and what they yield, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import hypot

import numpy as np
from scipy.stats import norm

from shedjoin.lab.plan import HarvestLoad, flat_scores, join_orders
from shedjoin.plan.model import FloatArray

SELECTIVITIES = [[0, 0.01, 0.02], [0.01, 0, 0.005], [0.02, 0.005, 0]]
ORDERS = [[1, 2], [2, 0], [1, 0]]

FLAT = HarvestLoad(
    [10, 20, 30], [10, 10, 10], ORDERS, SELECTIVITIES, flat_scores([2, 2, 2])
)
"""The reference load without lags."""

DRAWS: dict[str, Callable[[np.random.Generator], float]] = {
    "of all magnitudes": lambda rng: float(np.exp(rng.uniform(*np.log([1e-4, 3e-3])))),
    "low": lambda rng: float(rng.uniform(0, 1e-3)),
    "high": lambda rng: float(rng.uniform(0, 0.01)),
    "any": lambda rng: float(rng.uniform(0, 1)),
}
"""How selectivities are drawn."""


def normal_scores(
    means: Sequence[float], spreads: Sequence[float], width: float, count: int
) -> list[list[FloatArray]]:
    """Scores where lags to the first stream are normal and independent."""
    ages = width * np.arange(count + 1)

    def of(i: int, stream: int) -> FloatArray:
        if i == stream:
            return np.empty(0)
        lag = norm(means[i] - means[stream], hypot(spreads[i], spreads[stream]))
        return np.diff(lag.cdf(ages))

    return [[of(i, stream) for stream in range(len(means))] for i in range(len(means))]


def lagged(*, normalise: bool) -> HarvestLoad:
    """The reference load with lags of 4 and 5."""
    selectivities = [[0, 1e-3, 2e-3], [1e-3, 0, 5e-4], [2e-3, 5e-4, 0]]
    return HarvestLoad(
        [300, 100, 150],
        [10, 10, 10],
        join_orders(selectivities),
        selectivities,
        normal_scores([0, 4, 5], [0, 1, 1], 2, 5),
        normalise=normalise,
    )


def overloaded(
    rng: np.random.Generator,
    draw: Callable[[np.random.Generator], float],
    *,
    flat: bool,
) -> HarvestLoad:
    """Three streams with ten basic windows, in the paper's model."""
    selectivities = np.zeros((3, 3))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        selectivities[i, j] = selectivities[j, i] = draw(rng)
    scores: Sequence[Sequence[FloatArray]] = flat_scores([10, 10, 10])
    if not flat:
        means, spreads = rng.uniform(-5, 5, 2), rng.uniform(0.5, 2, 2)
        scores = normal_scores([0, *means], [0, *spreads], 1, 10)
    return HarvestLoad(
        rng.uniform(100, 500, 3),
        [10.0, 10.0, 10.0],
        join_orders(list(selectivities)),
        list(selectivities),
        scores,
        normalise=True,
    )


def anything(rng: np.random.Generator, streams: int, most: int) -> HarvestLoad:
    """Streams that differ in everything; some directions and basic windows are dead."""
    counts = rng.integers(1, most + 1, streams)
    scores = [
        [
            rng.dirichlet(np.full(count, 0.5)) * rng.choice([0.3, 1.0])
            for count in counts
        ]
        for _ in range(streams)
    ]
    for row in scores:
        for column in row:
            column[rng.random(column.size) < 0.2] = 0.0
    selectivities = np.exp(rng.uniform(-6, 0, (streams, streams)))
    selectivities[rng.random((streams, streams)) < 0.1] = 0.0
    return HarvestLoad(
        rng.uniform(1, 20, streams),
        rng.uniform(1, 10, streams),
        [
            rng.permutation(np.delete(np.arange(streams), i)).tolist()
            for i in range(streams)
        ],
        list(selectivities),
        scores,
        normalise=bool(rng.random() < 0.5),
        result_cost=float(rng.choice([0.0, 3.0])),
    )


def evaluated(load: HarvestLoad, counts: Sequence[Sequence[int]]) -> list[float]:
    """Results and work, directly by the definitions of O and C."""
    results = work = 0.0
    for i, order in enumerate(load.orders):
        iterations = 1.0
        comparisons = 0.0
        for stream, count in zip(order, counts[i], strict=True):
            scores = sorted((float(x) for x in load.scores[i][stream]), reverse=True)
            fraction = count / len(scores)
            reached = sum(scores[:count])
            if load.normalise:
                reached = reached / sum(scores) if sum(scores) else 0.0
            rows = float(load.rates[stream]) * float(load.windows[stream])
            comparisons += fraction * rows * iterations
            iterations *= reached * float(load.selectivities[i][stream]) * rows
        results += float(load.rates[i]) * iterations
        work += float(load.rates[i]) * comparisons
    return [results, work + load.result_cost * results]


def brute_force(work: float, load: HarvestLoad) -> float:
    """The most results of all configurations within the work."""
    off = [[0] * len(order) for order in load.orders]
    tables = []
    for i, order in enumerate(load.orders):
        ranges = [range(len(load.scores[i][stream]) + 1) for stream in order]
        tables.append(
            [
                evaluated(load, [*off[:i], hops, *off[i + 1 :]])
                for hops in product(*ranges)
            ]
        )
    return max(
        sum(option[0] for option in options)
        for options in product(*tables)
        if sum(option[1] for option in options) <= work * (1 + 1e-12)
    )
