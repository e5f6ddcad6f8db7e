"""What a memory budget of several streams, or of predicates, goes with."""

from __future__ import annotations

from shedjoin.errors import ParameterError
from shedjoin.spec.recompute import DEFAULT
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.throttle import Throttle

_WHAT = "the memory budget of a join by Band or Where, or of more than two streams"


def check_bounded(shedding: Shedding) -> None:
    """Refuse what only joins of two streams by key columns can do."""
    policy = shedding.policy
    if shedding.budget.cpu is not None or shedding.throttle.active:
        raise ParameterError(
            f"{shedding.budget!r}{_closed(shedding.throttle)} limits memory and time; "
            f"{_WHAT} limits memory only.",
            fix="write Budget(rows=1_000_000), or for a join by Band or Where "
            "Budget(cpu=0.7).",
        )
    if policy.by_predicates:
        raise ParameterError(
            f"{policy!r} saves work, and {shedding.budget!r} limits memory.",
            fix="leave out keep=, or write Budget(cpu=0.7).",
        )
    if policy.pairwise:
        raise ParameterError(
            f"keep={policy!r}, which is what some goals stand for, goes by pairs of "
            f"rows; {_WHAT} is for results of several.",
            fix="leave out keep=, or write one of policies.Fifo(), Recent(), "
            "UntilExpiry(), Rand(), Prob(), Age(), Expected(), Greedy(), or "
            'MostImportant("column", by=policies.Greedy()).',
        )
    if shedding.discipline != "probe_then_insert":
        raise ParameterError(
            f"discipline={shedding.discipline!r} is for two streams by key columns.",
            fix='leave it out: discipline="probe_then_insert" is the default.',
        )
    if shedding.recompute != DEFAULT:
        raise ParameterError(
            f"recompute={shedding.recompute!r}: scores of {_WHAT} are always computed "
            "anew.",
            fix="leave out recompute=.",
        )
    if shedding.importance is not None:
        raise ParameterError(
            f"{shedding.importance!r} was sent; {_WHAT} takes importance from the "
            "arguments of the join.",
            fix='start the query with keep=MostImportant("column", '
            "by=policies.Greedy()).",
        )


def _closed(throttle: Throttle) -> str:
    """Tell of a throttle, if one was sent."""
    return f" with a throttle of {throttle.share:g}" if throttle.active else ""
