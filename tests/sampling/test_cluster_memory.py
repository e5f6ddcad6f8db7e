"""What cluster samples hold, beside what the plan says they would."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin import Budget, Within
from shedjoin.lab import plan
from shedjoin.lab.plan import FrequencyModel
from shedjoin.lab.workloads.workloads import Correlation
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.models.sampling import pps_sizes
from shedjoin.policies import BestSample, EqCluster, Policy, PpsCluster, Uniform

from .arrivals import TIMES
from .planned import RATE, WINDOW_S, residents, streams, windows
from .streams import sample


@pytest.mark.parametrize("policy", [EqCluster(), PpsCluster(), Uniform(), BestSample()])
@pytest.mark.parametrize("rows", [1, 60, 400])
def test_never_above_the_budget(policy: Policy, rows: int) -> None:
    found = sample(streams("uncorrelated"), policy, rows)
    most = max(residents(found, after=0))
    assert most <= rows
    if isinstance(policy, EqCluster | PpsCluster):
        assert most == rows  # and they use it up


def test_bytes_are_never_above_the_budget() -> None:
    stream = streams("uncorrelated")
    length = f"{WINDOW_S} seconds"
    for policy in (EqCluster(), PpsCluster(), Uniform(), BestSample()):
        found = join(
            stream.batches,
            on="key",
            within=Within(before=length, after=length),
            time=TIMES,
            budget=Budget(memory="40 kB"),
            keep=policy,
        )
        assert 0 < max(batch.report.state_bytes for batch in found.batches) <= 40_000


@pytest.mark.parametrize("memory", [100, 300, 1000])
def test_eq_cluster_includes_what_the_plan_says(memory: int) -> None:
    """Measured beside predicted at 5, 15 and 50 %, within 10 %."""
    predicted = plan.eq_fraction(memory, *windows("uncorrelated"))
    found = sample(streams("uncorrelated"), EqCluster(1), memory)
    measured = included(found, 8)
    assert measured == pytest.approx(predicted, rel=0.1)


@pytest.mark.parametrize("correlated", ["direct", "inverse", "uncorrelated"])
@pytest.mark.parametrize("memory", [300, 1000])
def test_pps_cluster_includes_what_the_plan_says(
    correlated: Correlation, memory: int
) -> None:
    """Share of the results at 15 and 50 %, within 6 %: sizes are learned."""
    found = sample(streams(correlated), PpsCluster(1), memory)
    assert included(found, 8) == pytest.approx(pps_recall(correlated, memory), rel=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    "correlated",
    [
        pytest.param("direct", marks=pytest.mark.long),
        pytest.param("inverse", marks=pytest.mark.long),
        pytest.param("uncorrelated", marks=pytest.mark.long),
    ],
)
def test_pps_cluster_in_little_memory_takes_longer_to_learn(
    correlated: Correlation,
) -> None:
    """At 5 %, after 24 windows, within 8 %; the mean of four samples."""
    stream = streams(correlated, 4800)
    found = [included(sample(stream, PpsCluster(seed), 100), 48) for seed in range(4)]
    assert np.mean(found) == pytest.approx(pps_recall(correlated, 100), rel=0.08)


def included(run: Run, after: int) -> float:
    """Mean chance of a result: so many there are, over as many as are estimated."""
    parts = [batch.results["_weight"].to_numpy() for batch in run.batches[after:]]
    weight = np.concatenate(parts)
    return float(weight.size / weight.sum())


def pps_recall(correlated: Correlation, memory: float) -> float:
    """Share of the results in both windows, at the scale that fits the memory.

    A tenth of the sizes is the same for all rows, as PpsCluster has it.
    """
    left, right = windows(correlated)
    own = np.concatenate([left.own, right.own]) / 2
    opposite = np.concatenate([left.opposite, right.opposite]) / 2
    sizes = pps_sizes(opposite, float(own @ opposite))
    rates = {"rate": 2 * RATE, "opposite_rate": 2 * RATE}
    both = FrequencyModel(
        own.tolist(), (sizes / sizes.sum()).tolist(), WINDOW_S, **rates
    )
    chance = plan.pps_inclusion(memory, both).probability
    return float((own * opposite) @ chance / (own @ opposite))
