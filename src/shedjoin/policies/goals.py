"""Goals: what to keep, in a user's words; each picks its policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shedjoin.core.budget import Budget
from shedjoin.core.policy import Discipline, Policy
from shedjoin.core.recompute import Recompute
from shedjoin.core.shedding import Combine, Shedding
from shedjoin.errors import ParameterError
from shedjoin.policies.learned import Expected, Valued


@dataclass(frozen=True, slots=True)
class MostResults:
    """Keep the rows that bring the most results."""

    def policy(self) -> Policy:
        """Name the policy that serves this goal."""
        return Expected()


@dataclass(frozen=True, slots=True)
class MostImportant:
    """Keep the rows that bring the greatest total importance of results.

    Parameters
    ----------
    importance : column, Lookup, Histogram, Spark expression, or a pair of them
        Where importance comes from. One column name is taken from the sides that have
        it. A pair is (left, right); None is a side without a say.
    combine : {"min", "max", "sum", "product", "mean"}, default "min"
        Importance of a result from those of its two rows.
    by : Policy, optional
        A policy that uses importance, such as ``IJoin()`` or ``Greedy()``.

    Examples
    --------
    >>> from shedjoin import MostImportant
    >>> MostImportant("bid").combine
    'min'
    """

    importance: Any
    combine: Combine = "min"
    by: Policy | None = None

    def policy(self) -> Policy:
        """Name the policy that serves this goal."""
        return self.by or Valued()


Goal = MostResults | MostImportant


def shedding_of(
    budget: Budget | None,
    keep: Goal | Policy | None,
    *,
    discipline: Discipline,
    recompute: Recompute,
    seed: int,
) -> Shedding | None:
    """Put the arguments of a join that concern its budget together."""
    if budget is None:
        if keep is not None:
            raise ParameterError(
                f"keep={keep!r} without a budget: nothing would be shed.",
                fix='add budget=Budget(memory="512 MB"), or leave keep out.',
            )
        return None
    goal = MostResults() if keep is None else keep
    combine: Combine = goal.combine if isinstance(goal, MostImportant) else "min"
    policy = goal.policy() if isinstance(goal, MostResults | MostImportant) else goal
    return Shedding(budget, policy, discipline, recompute, combine, seed)
