"""The specification of a join under the settings in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shedjoin.control.importance import check_importance
from shedjoin.control.settings import read_setting
from shedjoin.errors import ParameterError, StateMismatchError
from shedjoin.operators.budgeted.origin import drawn_by
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import shedding_of
from shedjoin.spec.budget import Budget
from shedjoin.spec.importance import Importances
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.throttle import Throttle


def steered(
    spec: JoinSpec,
    in_force: Mapping[str, Any],
    before: Mapping[str, Any] | None = None,
) -> JoinSpec:
    """Apply the settings in force to a spec.

    ``before`` are the settings in force so far. A change that does not fit the state is
    refused.
    """
    if not in_force:
        return spec
    shedding = _shedding(spec, in_force)
    if before is not None:
        _check_sample(_shedding(spec, before), shedding)
        _check_time(spec.shedding, shedding)
    elif (shedding is not None and shedding.policy.samples) != spec.samples:
        raise StateMismatchError(
            "messages have set a policy that samples otherwise than this start.",
            fix="start with the former keep=, or with a new checkpointLocation.",
        )
    if shedding is not None:
        spec.check_shedding(shedding)
    return replace(spec, shedding=shedding)


def _shedding(spec: JoinSpec, in_force: Mapping[str, Any]) -> Shedding | None:
    values = {name: read_setting(name, value) for name, value in in_force.items()}
    started = spec.shedding
    budget, policy = values.get("budget"), values.get("policy")
    throttle, importance = values.get("throttle"), values.get("importance")
    if started is None and isinstance(budget, Budget):
        started = shedding_of(budget, None, by_predicates=bool(spec.terms))
    if started is None:
        return None
    changes: dict[str, Any] = {}
    if isinstance(budget, Budget):
        # A message that limits only memory does not change the limit of time. A message
        # that limits only time does not change the limit of memory.
        before = started.budget
        if budget.cpu is None:
            changes["budget"] = replace(budget, cpu=before.cpu)
        elif budget.rows is None and budget.memory is None:
            changes["budget"] = replace(before, cpu=budget.cpu)
        else:
            changes["budget"] = budget
    if isinstance(policy, Policy):
        changes["policy"] = policy
    if isinstance(throttle, Throttle):
        changes["throttle"] = throttle
    if isinstance(importance, Importances):
        check_importance(importance, spec)
        changes["importance"] = importance
    return replace(started, **changes)


def _check_time(started: Shedding | None, after: Shedding | None) -> None:
    """Refuse a limit of time if the query began without one and has no listener."""
    watched = started is not None and started.budget.cpu is not None
    if after is not None and after.budget.cpu is not None and not watched:
        raise ParameterError(
            f"cpu={after.budget.cpu!r} of a join that was started without such a "
            "budget.",
            fix="start the query with budget=Budget(cpu=...).",
        )


def _check_sample(before: Shedding | None, after: Shedding | None) -> None:
    """Refuse another way of sampling: the weights of residents would be wrong.

    The results of a sample also have two more columns, and a running query can neither
    gain nor lose columns.
    """
    old, new = (None if one is None else drawn_by(one) for one in (before, after))
    if old != new:
        raise ParameterError(
            "the message changes whether or how the join samples.",
            fix="stop the query; docs/restarts.md says what a new start may change.",
        )
