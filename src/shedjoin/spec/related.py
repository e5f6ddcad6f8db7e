"""What a budget of a join through a relation goes with."""

from __future__ import annotations

from shedjoin.errors import ParameterError
from shedjoin.spec.shedding import Shedding

_WHAT = "a join through a relation"


def check_related(shedding: Shedding) -> None:
    """Refuse what only joins by key columns can do."""
    policy = shedding.policy
    if shedding.budget.cpu is not None or shedding.throttle.active:
        raise ParameterError(
            f"{shedding.budget!r} limits time; the budget of {_WHAT} limits memory.",
            fix='write Budget(rows=1_000_000) or Budget(memory="512 MB").',
        )
    if policy.samples or policy.by_predicates or policy.saves_work:
        raise ParameterError(
            f"keep={policy!r} draws samples or saves work, which {_WHAT} does not.",
            fix='leave out keep=, or write MostResults(), MostImportant("column"), or '
            "a policy such as policies.Dgl(), Prob() or Fifo().",
        )
