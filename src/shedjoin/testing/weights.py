"""The invariant of a sample: its weights add up to the exact results."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shedjoin.policies.base import Policy, SamplingPolicy
from shedjoin.spec.budget import Budget
from shedjoin.spec.streams import WEIGHT_COLUMN
from shedjoin.testing.invariant import Trials
from shedjoin.testing.streams import steady

_SHARE = 0.3
_STREAMS = 40
_KEYS = 1000
_STANDARD_ERRORS = 5.0
"""Limit of the mean error. A correct sample hardly ever exceeds it by chance."""


def misweighed(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for weights whose sum is not, on average, the number of exact results.

    ``inclusion`` is the probability that a row stays. If it is wrong, every estimate is
    wrong, however large the sample is. A policy that tosses coins for expected matches
    misses further matches, so it is not checked.
    """
    if not isinstance(policy, SamplingPolicy) or policy.tosses:
        return
    said, there = [], []
    for seed in range(trials.seed, trials.seed + _STREAMS):
        scenario = steady(seed, first_key=_KEYS * seed)  # new keys, so new lots
        budget = Budget(rows=int(_SHARE * scenario.exact().report.seen[0]))
        results = scenario.under(budget).run(policy).results
        said.append(results[WEIGHT_COLUMN].to_numpy().sum())
        there.append(scenario.exact().report.matched)
    off = np.subtract(said, there)
    error = off.std(ddof=1) / np.sqrt(off.size)
    if abs(off.mean()) > _STANDARD_ERRORS * error:
        yield (
            f"weights add up to {np.mean(said):.1f} on average and there are "
            f"{np.mean(there):.1f} results, with a standard error of {error:.1f} "
            f"and {_SHARE:.0%} of the rows (seeds {trials.seed} to {seed})"
        )
