"""The experiments of CPU-limited joins, against plain Python and planned numbers."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.cpu_limited.baseline import COINS, OFFLINE, ONLINE, archived, recalls
from experiments.cpu_limited.correlations import COSTS, WINDOW, filtered, rates
from experiments.cpu_limited.offline import GREEDY, INDUCED, OPTIMUM, PRINTED, most
from experiments.cpu_limited.runs import run
from experiments.cpu_limited.sampled import both_windows, setting
from experiments.cpu_limited.sampled import run as sampled_run
from lab.offline.graphs import (
    TINY_COSTS,
    best_induced,
    best_of_all,
    edges_of,
    greedy,
    window_graph,
)
from shedjoin.lab.plan import (
    ValueLoad,
    admitted,
    prob_filter,
    value_probe_no_insert,
    work_fraction,
)
from shedjoin.policies import Uniform

pytestmark = pytest.mark.bench


def test_ways_to_choose_are_those_of_plain_python(rng: np.random.Generator) -> None:
    for trial in range(30):
        graph = window_graph(rng, rows=4)
        edges = edges_of(graph)[:9]
        graph = graph.part(np.arange(len(edges)))
        work = (0.3, 0.5, 0.7)[trial % 3] * graph.work(TINY_COSTS)
        expected = {
            OPTIMUM: best_of_all(edges, work, TINY_COSTS),
            INDUCED: best_induced(edges, work, TINY_COSTS),
            GREEDY: greedy(edges, work, TINY_COSTS),
            PRINTED: greedy(edges, work, TINY_COSTS, descending=True),
        }
        found = {way: most(way, work, graph, TINY_COSTS) for way in expected}
        assert found == expected


def test_the_filter_keeps_to_the_work_and_finds_what_is_planned() -> None:
    given = rates("inverse")
    load = ValueLoad(given.left, given.right, WINDOW, WINDOW)
    work = 0.25 * float(load.work(COSTS).sum())
    found = run(filtered(given, work, load), None, 1.0, windows=30, seed=2)
    planned = prob_filter(work, load, costs=COSTS)
    assert found.results == pytest.approx(planned.results, rel=0.05)
    assert found.work == pytest.approx(work, rel=0.05)


def test_offline_finds_more_of_inverse_frequencies() -> None:
    given = rates("inverse")
    graph = archived(given, 40)
    for share in (0.25, 0.5):
        found = recalls(given, graph, share)
        assert found[OFFLINE] > found[ONLINE] > found[COINS]
        load = ValueLoad(given.left, given.right, WINDOW, WINDOW)
        work = share * float(load.work(COSTS).sum())
        unstored = value_probe_no_insert(work, load, costs=COSTS)
        assert unstored.recall > found[OFFLINE]


def test_a_sample_of_direct_frequencies_keeps_to_the_work() -> None:
    one = setting("DC, Z = 1")
    models = both_windows(one)
    fraction = work_fraction(1, *models, costs=one.costs)
    found = sampled_run(one, Uniform(fraction=fraction), windows=20, seed=5)
    whole = sampled_run(one, None, windows=20, seed=5)
    stored = sum(admitted(fraction, model) for model in models)
    assert found.stored == pytest.approx(stored, rel=0.05)
    assert found.results / whole.results == pytest.approx(fraction, rel=0.1)
    assert found.estimated == pytest.approx(whole.results, rel=0.1)
    work = found.stored * one.costs.update + found.results * one.costs.match
    assert work == pytest.approx(1, rel=0.05)
