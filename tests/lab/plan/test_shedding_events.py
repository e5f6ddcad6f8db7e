"""Predicted results and work against a join that is run event by event."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from shedjoin.lab.plan import (
    Costs,
    RandomShedding,
    ValueLoad,
    ValueShedding,
    coin_flip,
    insert_no_probe,
    online_max_subset,
    probe_no_insert,
    value_probe_no_insert,
)
from shedjoin.plan.predicted_shedding import Scheme

from .figures import zipf
from .overload import SETTINGS
from .shedding_events import Measured, arrivals, run

ROWS = 120_000


def assert_as_predicted(
    measured: Measured, shedding: RandomShedding | ValueShedding, costs: Costs
) -> None:
    assert measured.results == pytest.approx(shedding.results, rel=0.03)
    work = measured.updates * costs.update + measured.results * costs.match
    assert work == pytest.approx(shedding.work, rel=0.03)


@pytest.mark.parametrize(
    ("scheme", "best"),
    [
        ("coin_flip", coin_flip),
        ("insert_no_probe", insert_no_probe),
        ("probe_no_insert", probe_no_insert),
    ],
)
@pytest.mark.parametrize("name", SETTINGS)
def test_random_shedding(
    scheme: Scheme,
    best: Callable[..., RandomShedding],
    name: str,
    rng: np.random.Generator,
) -> None:
    load, costs = SETTINGS[name]
    keys = round(1 / load.selectivity)
    even = np.full(keys, 1 / keys)
    rows = arrivals(rng, (load.left_rate, load.right_rate), (even, even), ROWS)
    shedding = best(1, load, costs=costs)
    wins = rng.random(ROWS) < np.array([shedding.left, shedding.right])[rows.stream]
    every = np.ones(ROWS, dtype=np.bool_)
    probes = every if scheme == "probe_no_insert" else wins
    stores = every if scheme == "insert_no_probe" else wins
    measured = run(rows, (load.left_window, load.right_window), probes, stores)
    assert_as_predicted(measured, shedding, costs)


@pytest.mark.parametrize("best", [value_probe_no_insert, online_max_subset])
def test_shedding_by_value(
    best: Callable[..., ValueShedding], rng: np.random.Generator
) -> None:
    shares = zipf(1)[::-1], zipf(1)
    load = ValueLoad(100 * shares[0], 60 * shares[1], left_window=10, right_window=5)
    costs = Costs(update=0.004, match=0.0005)
    shedding = best(load.work(costs).sum() / 2, load, costs=costs)
    rows = arrivals(rng, (100, 60), shares, ROWS)
    chances = np.stack((shedding.left, shedding.right))[rows.stream, rows.key]
    stores = rng.random(ROWS) < chances
    measured = run(rows, (10, 5), shedding.admitted[rows.key], stores)
    assert_as_predicted(measured, shedding, costs)
