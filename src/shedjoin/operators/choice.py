"""Which join a spec asks for."""

from __future__ import annotations

from shedjoin.operators.budgeted.join import BudgetedJoin
from shedjoin.operators.exact.join import ExactJoin
from shedjoin.operators.frame.join import Join, Opening


def open_join(opening: Opening) -> Join:
    """Open the join of a shard."""
    if opening.spec.shedding is None:
        return ExactJoin.open(opening)
    return BudgetedJoin.open(opening)
