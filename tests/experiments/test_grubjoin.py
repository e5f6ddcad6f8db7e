"""The experiments of GrubJoin in small: what must hold, holds."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.grubjoin.dropping import remaining, reopened
from experiments.grubjoin.loads import SELECTIVITIES, drawn
from experiments.grubjoin.loop import Machine
from experiments.grubjoin.planning_time import GROW, milliseconds
from experiments.grubjoin.runs import GAIN, RATE, WORK, compared, whole
from experiments.grubjoin.streams import ALIGNED, LAGS, Scene
from experiments.part import values
from shedjoin.lab.plan import HarvestLoad, best_harvest, greedy_harvest

pytestmark = [pytest.mark.bench, pytest.mark.long]


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("name", SELECTIVITIES)
def test_greedy_is_near_the_optimum(name: str, flat: bool) -> None:
    rng = np.random.default_rng(1)
    loads = [drawn(rng, draw=SELECTIVITIES[name], flat=flat) for _ in range(40)]
    for share, least in ((0.1, 0.93), (0.4, 0.98), (0.8, 0.99)):
        ratios = [
            greedy_harvest(share * load.work, load, side="grow").results
            / best_harvest(share * load.work, load).results
            for load in loads
        ]
        assert least <= np.mean(ratios) <= 1 + 1e-9


def test_plans_take_milliseconds() -> None:
    load = drawn(np.random.default_rng(2), 5, 20)
    assert 0 < milliseconds(GROW, 0.25, [load]) < 1000


@pytest.mark.parametrize("lags", [ALIGNED, LAGS])
def test_harvesting_beats_dropping(lags: tuple[float, ...]) -> None:
    budget = whole(Scene(rate=40, lags=lags)).looked
    points = compared(("", 80), Scene(rate=80, lags=lags), budget, quick=True)
    assert values(points, measure=GAIN)[0] > 50
    assert all(0 < used < 1.4 for used in values(points, measure=WORK))


def test_nothing_is_shed_within_the_budget() -> None:
    scene = Scene(rate=40)
    points = compared(("", 40), scene, 2 * whole(scene).looked, quick=True)
    assert values(points, measure=GAIN) == [0.0]
    assert min(values(points, measure=RATE)) > 0


def test_a_machine_keeps_up_by_shedding() -> None:
    scene, capacity = Scene(rate=80), whole(Scene(rate=40)).looked
    done = Machine(scene, capacity, seconds=80, reset=60).run()
    second = 2
    assert done.shares[0] == done.shares[60 * second] == 1.0
    assert min(done.shares) < 0.5
    rows = scene.streams * scene.rate
    calm, opened = (
        sum(done.dropped[start * second : (start + 5) * second]) / 5 / rows
        for start in (50, 60)
    )
    assert calm < 0.2 < opened < 1.0
    assert sum(done.results[50 * second :]) > 0


def test_rows_once_dropped_are_missing_until_others_are_as_old() -> None:
    selected = np.array([[5.0], [2.0], [4.5], [4.5], [4.5], [1.0], [20.0]])
    kept = remaining(selected)[:, 0].tolist()
    assert kept == [5.0, 2.0, 3.0, 4.0, 4.5, 1.0, 2.0]


@pytest.mark.parametrize("flat", [True, False])
def test_recall_with_the_youngest_windows_alone(flat: bool) -> None:
    load, kept = drawn(np.random.default_rng(3), flat=flat), (4, 7, 9)
    scores = [[np.array(one, float) for one in row] for row in load.scores]
    for row in scores:
        for stream, one in enumerate(row):
            if one.size:
                one[:] = one / one.sum()
                one[kept[stream] :] = 0.0
    young = HarvestLoad(
        load.rates, load.windows, load.orders, load.selectivities, scores
    )
    assert reopened(load, kept) == pytest.approx(young.results / load.results)
    assert 0 < reopened(load, kept) < reopened(load, (10, 10, 10)) == pytest.approx(1)
