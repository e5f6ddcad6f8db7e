"""The operator's check of its own intervals: it holds, and it can fail."""

from __future__ import annotations

from functools import cache

import pytest

from shedjoin.lab.workloads.workloads import Frequencies, zipf
from shedjoin.policies import EqCluster, PpsCluster
from shedjoin.spec.report import Report

from .policies import Liar, Scheme
from .streams import Stream, known, sample


@cache
def long_stream() -> Stream:
    """Thirty windows of 2000 rows a side, in five micro-batches.

    Keys are equally frequent: with few monitored rows, clusters of very different
    sizes leave too few effective ones for a check.
    """
    frequencies = Frequencies(keys=400, z=0.0, seed=2)
    batches = zipf(frequencies, rows=60_000, seconds=3000, batches=5, seed=4)
    return known(batches, 100, 3000)


def checked(policy: Scheme, seeds: range) -> Report:
    """Reports of runs at 10 % memory, added up."""
    stream = long_stream()
    runs = (sample(stream, policy(seed=seed), stream.rows(0.1)) for seed in seeds)
    return sum((run.report for run in runs), Report())


@pytest.mark.parametrize("policy", [PpsCluster])
def test_checks_hold(policy: Scheme) -> None:
    report = checked(policy, range(4))
    assert report.checks >= 15
    assert 0.9 <= report.checks_held / report.checks <= 1.0


@pytest.mark.long
@pytest.mark.parametrize("policy", [EqCluster, PpsCluster])
def test_most_checks_hold_and_not_quite_all(policy: Scheme) -> None:
    report = checked(policy, range(30))
    assert report.checks >= 140
    # 95 % of 150 checks: a standard error of 1.8 %.
    assert 0.9 <= report.checks_held / report.checks < 1.0


@pytest.mark.long
def test_a_policy_that_lies_is_found_out() -> None:
    report = checked(Liar, range(4))
    assert report.checks >= 15
    assert report.checks_held / report.checks < 0.5


def test_without_shedding_there_is_nothing_in_doubt() -> None:
    stream = long_stream()
    report = sample(stream, EqCluster(), 10**6).report
    assert report.checks_held == report.checks > 0
    assert report.weight == report.matched == stream.count
