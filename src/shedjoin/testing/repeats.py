"""Invariants of repetition: the same input must give the same results."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

from shedjoin.policies.base import Policy
from shedjoin.spec.recompute import DEFAULT, Successive
from shedjoin.testing.invariant import Trials
from shedjoin.testing.scenario import difference, rows
from shedjoin.testing.streams import busy, in_order

_BLOBS = 3


def unrepeatable(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for another outcome in a second run, or with another order of blobs."""
    for seed in trials.seeds:
        scenario = busy(seed)
        first, again = scenario.run(policy), scenario.run(copy.deepcopy(policy))
        problem = difference(first, again)
        if problem or first.state_digests != again.state_digests:
            yield f"{problem or 'other state'} when repeated {scenario}"
        first, again = (
            scenario.run(policy, blobs=_BLOBS, shuffle_seed=order) for order in (7, 8)
        )
        problem = difference(first, again)
        if problem or first.state_digests != again.state_digests:
            yield f"{problem or 'other state'} with blobs in other order {scenario}"


def forgetful(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for a change of results after a restart from the stored state.

    The place of a row in the state may change, and with it the bytes that are written.
    """
    for seed in trials.seeds:
        scenario = busy(seed)
        first, again = scenario.run(policy), scenario.run(policy, restart_every=1)
        problem = difference(first, again, but=("written_bytes", "restored"))
        if problem:
            yield f"{problem} with restarts {scenario}"


def batchwise(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for results that depend on how a stream is cut into micro-batches.

    If scores are computed only from time to time, results do depend on this, because
    the end of a micro-batch ends a block of arrivals. So if the scores of a policy
    change, or depend on models, the policy is tried only with scores that are computed
    at every shed.
    """
    changes = policy.dynamic or "models" in policy.reads
    schemes = (Successive(),) if changes else (DEFAULT, Successive())
    for seed in trials.seeds:
        for recompute in schemes:
            whole, single = (
                replace(in_order(seed, size), recompute=recompute) for size in (None, 1)
            )
            one, many = (rows(scenario.run(policy)) for scenario in (whole, single))
            if one != many:
                yield (
                    f"{one.total()} results in one batch, {many.total()} in batches of "
                    f"one row; {(one - many).total()} and {(many - one).total()} are "
                    f"in one of them only {single}"
                )
