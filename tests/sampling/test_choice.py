"""The sample that is predicted to tell most, and what it says of its choice."""

from __future__ import annotations

import pyarrow as pa
import pytest

from shedjoin import Budget, Options, Sample, Within
from shedjoin.lab.workloads.workloads import Correlation, Frequencies, zipf
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.policies import BestSample, EqCluster, Policy, PpsCluster, Uniform
from shedjoin.policies.goals import Goal

from .streams import TIMES, Stream, known, sample

WINDOW_S = 100


def zipfian(correlated: Correlation, z: float, windows: int = 12) -> Stream:
    """Some windows of 500 rows a side, each two micro-batches."""
    frequencies = Frequencies(keys=60, z=z, correlated=correlated, seed=2)
    seconds = WINDOW_S * windows
    batches = zipf(
        frequencies,
        rows=500 * windows,
        seconds=seconds,
        batches=2 * windows,
        seed=4,
    )
    return known(batches, WINDOW_S, seconds)


def chosen(run: Run) -> str:
    """The scheme that the last micro-batch names."""
    return run.batches[-1].report.scheme.partition(":")[0]


@pytest.mark.parametrize("memory", [0.1, 0.3])
def test_rows_that_differ_are_sampled_by_size(memory: float) -> None:
    stream = zipfian("inverse", 1.0)
    found = sample(stream, BestSample(), stream.rows(memory))
    assert chosen(found) == "PpsCluster"
    # And as the report says, results are those of that scheme from then on.
    assert "of EqCluster" in found.batches[-1].report.scheme


@pytest.mark.slow
@pytest.mark.parametrize("memory", [0.1, 0.3])
@pytest.mark.parametrize("correlated", ["inverse", "uncorrelated"])
def test_uniform_is_not_taken_where_matches_vary(
    correlated: Correlation, memory: float
) -> None:
    """In the last half of forty windows, but for a micro-batch or two in twenty."""
    stream = zipfian(correlated, 1.0, windows=40)
    found = sample(stream, BestSample(), stream.rows(memory))
    named = [batch.report.scheme for batch in found.batches[40:]]
    assert sum(name.startswith("Uniform") for name in named) <= 4
    assert sum(name.startswith("PpsCluster") for name in named) >= 30


@pytest.mark.slow
@pytest.mark.parametrize("memory", [0.1, 0.3])
def test_uniform_is_not_taken_where_clusters_are_large(memory: float) -> None:
    stream = zipfian("direct", 1.0, windows=40)
    found = sample(stream, BestSample(), stream.rows(memory))
    named = [batch.report.scheme for batch in found.batches[40:]]
    assert sum(name.startswith("Uniform") for name in named) <= 4


@pytest.mark.parametrize("memory", [0.1, 0.3])
def test_rows_that_are_alike_are_sampled_as_clusters(memory: float) -> None:
    stream = zipfian("direct", 0.0)
    found = sample(stream, BestSample(), stream.rows(memory))
    assert chosen(found) in {"EqCluster", "PpsCluster"}


@pytest.mark.parametrize(
    "policy", [EqCluster(), PpsCluster(), Uniform(), BestSample()], ids=str
)
def test_all_weights_are_one_while_all_rows_fit(policy: Policy) -> None:
    stream = zipfian("uncorrelated", 1.0)
    found = sample(stream, policy, 100_000)
    assert found.results.num_rows == stream.count
    assert set(found.results["_weight"].to_pylist()) == {1.0}
    assert found.report.weight == stream.count


def again(stream: Stream, keep: Goal | Policy, restart_every: int, seed: int) -> Run:
    length = f"{WINDOW_S} seconds"
    return join(
        stream.batches,
        on="key",
        within=Within(before=length, after=length),
        time=TIMES,
        budget=Budget(rows=stream.rows(0.1)),
        keep=keep,
        restart_every=restart_every,
        options=Options(seed=seed),
    )


@pytest.mark.parametrize(
    "keep",
    [
        *(EqCluster(3), PpsCluster(3), Uniform(0.4, seed=3)),
        *(Sample(), Sample(of="left_value")),
    ],
    ids=str,
)
def test_a_restart_changes_nothing(keep: Goal | Policy) -> None:
    stream = zipfian("uncorrelated", 1.0)
    runs = [again(stream, keep, restart_every, 3) for restart_every in (0, 1, 2)]
    assert runs[0].results.num_rows
    assert runs[0].results.equals(runs[1].results)
    assert runs[0].results.equals(runs[2].results)


def test_the_seed_of_the_join_is_that_of_its_sample() -> None:
    stream = zipfian("inverse", 1.0)
    three = again(stream, Sample(), 0, 3).results
    assert three.equals(again(stream, BestSample(3), 0, 0).results)
    assert not three.equals(again(stream, Sample(), 0, 4).results)
    assert isinstance(three, pa.Table)
