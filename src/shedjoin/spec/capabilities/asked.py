"""Features that a request asks of a join, as rows of the capability table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from shedjoin.spec.capabilities.kinds import Feature
from shedjoin.spec.recompute import DEFAULT

if TYPE_CHECKING:
    from shedjoin.spec.shedding import Shedding

Family: TypeAlias = Literal[
    "scores", "valued", "pairs", "sample", "saving", "harvesting"
]
"""Families of policies. All policies of a family can be used in the same joins."""
Asked: TypeAlias = tuple[Feature, str]
"""A feature, and what the user has written."""


def asked_by(shedding: Shedding) -> Iterator[Asked]:
    """List the features that a budget, a policy and the order of shedding ask for."""
    budget, policy, throttle = shedding.budget, shedding.policy, shedding.throttle
    closed = f" with a throttle of {throttle.share:g}" if throttle.active else ""
    given = f"{budget!r}{closed}"
    in_time = budget.cpu is not None or throttle.active
    if budget.limits_memory:
        yield Feature.MEMORY_AND_TIME if in_time else Feature.MEMORY, given
    else:
        yield Feature.TIME, given
    kept = f"keep={shedding.keep or repr(policy)}"
    other_discipline = shedding.discipline != "probe_then_insert"
    discipline = f"discipline={shedding.discipline!r}"
    if budget.recall is not None:
        yield Feature.RECALL, given
        if not shedding.is_foreseen:
            yield (
                Feature.RECALL_UNFORESEEN,
                discipline if other_discipline else kept,
            )
    prefix = "KEEP" if budget.limits_memory else "SPEND"
    yield Feature[f"{prefix}_{policy.family.upper()}"], kept
    if other_discipline:
        yield Feature.DISCIPLINE, discipline
        if policy.samples:
            yield Feature.DISCIPLINE_OF_SAMPLE, discipline
    if shedding.recompute != DEFAULT:
        yield Feature.RECOMPUTE, f"recompute={shedding.recompute!r}"
    if shedding.importance is not None:
        yield Feature.NEW_IMPORTANCE, repr(shedding.importance)
