"""Goals: what to keep, in a user's words; each picks its policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shedjoin.errors import ParameterError
from shedjoin.policies.ayad import ValuePni
from shedjoin.policies.base import Policy, SamplingPolicy
from shedjoin.policies.gedik import Harvest
from shedjoin.policies.learned import Expected, Valued
from shedjoin.policies.samples import BestSample
from shedjoin.spec.budget import Budget
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.spec.shedding import Combine, Discipline, Shedding


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
        it. A pair is (left, right); None is a side without a say; of several streams,
        a dict by stream. A row whose
        importance is null or NaN has importance 0; negative ones count as they are,
        and infinite ones make sums of the report infinite.
    combine : {"min", "max", "sum", "product", "mean"}, default "min"
        Importance of a result from those of its rows.
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


@dataclass(frozen=True, slots=True)
class Sample:
    """Keep a sample of the join, with which aggregates can be estimated.

    Results have two more columns, ``_weight`` and ``_cluster``;
    :func:`shedjoin.estimate` goes by them.

    Parameters
    ----------
    by : Policy, optional
        One of ``EqCluster``, ``PpsCluster`` and ``Uniform``; by default the one that
        is predicted to tell most. The report's ``scheme`` says why; on Spark the
        progress has the three predictions, ``variance_eq``, ``variance_pps`` and
        ``variance_uniform``, of which the least is taken.

    Examples
    --------
    >>> from shedjoin import Sample
    >>> Sample().policy(seed=3)
    BestSample(seed=3)
    """

    by: Policy | None = None

    def __post_init__(self) -> None:
        if self.by is not None and not isinstance(self.by, SamplingPolicy):
            raise ParameterError(
                f"Sample(by={self.by!r}) is not a sample.",
                fix="write Sample(), or Sample(by=policies.PpsCluster()).",
            )

    def policy(self, seed: int) -> Policy:
        """Name the policy that serves this goal."""
        return self.by or BestSample(seed)


Goal = MostResults | MostImportant | Sample


def shedding_of(
    budget: Budget | None,
    keep: Goal | Policy | None,
    *,
    discipline: Discipline = "probe_then_insert",
    recompute: Recompute = DEFAULT,
    seed: int = 0,
    by_predicates: bool = False,
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
    if by_predicates and isinstance(goal, MostResults) and not budget.limits_memory:
        policy: Policy = Harvest()
    elif isinstance(goal, Sample):
        policy = goal.policy(seed)
    else:
        policy = goal.policy() if isinstance(goal, Goal) else goal
    if not isinstance(policy, Policy):
        raise ParameterError(
            f"keep={policy!r} is neither a goal nor a policy.",
            fix="write keep=MostResults(), or a policy such as policies.Prob().",
        )
    if policy.by_predicates and isinstance(goal, MostImportant):
        raise ParameterError(
            f"{policy!r} saves work and knows no importance.",
            fix=f"write keep=policies.{policy!r}.",
        )
    if not isinstance(recompute, Recompute):
        raise ParameterError(
            f"recompute={recompute!r} is not a scheme.",
            fix="write recompute=Amortised(), Successive(), Every(10) or Adaptive().",
        )
    load = ValuePni(valued=isinstance(goal, MostImportant))
    return Shedding(budget, policy, discipline, recompute, combine, seed, load)
