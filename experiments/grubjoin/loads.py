"""Joins drawn at random, for which harvests are planned (section 6.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import hypot

import numpy as np
from scipy.stats import norm

from shedjoin.lab.plan import HarvestLoad, flat_scores, join_orders
from shedjoin.types import FloatArray

WINDOW = 10.0
Draw = Callable[[np.random.Generator], float]
SELECTIVITIES: dict[str, Draw] = {
    "1e-4 to 3e-3": lambda rng: float(np.exp(rng.uniform(*np.log([1e-4, 3e-3])))),
    "0 to 1": lambda rng: float(rng.uniform(0, 1)),
}
"""The paper draws them at random, and does not say from where."""
SOME = SELECTIVITIES["1e-4 to 3e-3"]


def drawn(
    rng: np.random.Generator,
    streams: int = 3,
    windows: int = 10,
    *,
    draw: Draw = SOME,
    flat: bool = False,
) -> HarvestLoad:
    """A join in the paper's model, at 100 to 500 rows per second of each stream."""
    selectivities = np.zeros((streams, streams))
    for i in range(streams):
        for j in range(i):
            selectivities[i, j] = selectivities[j, i] = draw(rng)
    scores: Sequence[Sequence[FloatArray]] = flat_scores([windows] * streams)
    if not flat:
        scores = _normal_scores(rng, streams, windows)
    return HarvestLoad(
        rng.uniform(100, 500, streams),
        [WINDOW] * streams,
        join_orders(list(selectivities)),
        list(selectivities),
        scores,
        normalise=True,
    )


def _normal_scores(
    rng: np.random.Generator, streams: int, windows: int
) -> list[list[FloatArray]]:
    """Lags to the first stream are normal and independent."""
    means = [0.0, *rng.uniform(-WINDOW / 2, WINDOW / 2, streams - 1)]
    spreads = [0.0, *rng.uniform(0.5, 2, streams - 1)]
    ages = np.linspace(0, WINDOW, windows + 1)

    def of(i: int, stream: int) -> FloatArray:
        if i == stream:
            return np.empty(0)
        lag = norm(means[i] - means[stream], hypot(spreads[i], spreads[stream]))
        return np.diff(lag.cdf(ages))

    return [[of(i, stream) for stream in range(streams)] for i in range(streams)]
