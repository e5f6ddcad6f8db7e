"""A join as the settings in force would have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shedjoin.control.settings import read_setting
from shedjoin.errors import ParameterError, StateMismatchError
from shedjoin.operators.budgeted.origin import drawn_by
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import MostResults
from shedjoin.spec.budget import Budget
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec


def steered(
    spec: JoinSpec,
    in_force: Mapping[str, Any],
    before: Mapping[str, Any] | None = None,
) -> JoinSpec:
    """Put the settings in force into a spec.

    ``before`` are those in force so far: a change from there that the state cannot
    follow is refused.
    """
    if not in_force:
        return spec
    shedding = _shedding(spec, in_force)
    if before is not None:
        _check_sample(_shedding(spec, before), shedding)
    elif (shedding is not None and shedding.policy.samples) != spec.samples:
        raise StateMismatchError(
            "messages have set a policy that samples otherwise than this start.",
            fix="start with the former keep=, or with a new checkpointLocation.",
        )
    if shedding is not None:
        shedding.budget.by_pool(0, len(spec.streams))  # refuses other splits
    return replace(spec, shedding=shedding)


def _shedding(spec: JoinSpec, in_force: Mapping[str, Any]) -> Shedding | None:
    values = {name: read_setting(name, value) for name, value in in_force.items()}
    started = spec.shedding
    budget, policy = values.get("budget"), values.get("policy")
    if started is None:
        if not isinstance(budget, Budget):
            return None
        started = Shedding(budget, MostResults().policy())
    changes: dict[str, Any] = {}
    if isinstance(budget, Budget):
        changes["budget"] = budget
    if isinstance(policy, Policy):
        changes["policy"] = policy
    return replace(started, **changes)


def _check_sample(before: Shedding | None, after: Shedding | None) -> None:
    """Refuse another way of drawing: weights of residents would be wrong.

    Results of a sample have two columns more, and columns of a running query stay.
    """
    old, new = (None if one is None else drawn_by(one) for one in (before, after))
    if old != new:
        raise ParameterError(
            "the message changes whether or how the join samples.",
            fix="stop the query; docs/restarts.md says what a new start may change.",
        )
