"""Goals: what a join within a budget should achieve, and the policy for each goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shedjoin.errors import ParameterError
from shedjoin.policies.ayad import ValuePni
from shedjoin.policies.base import Policy, SamplingPolicy
from shedjoin.policies.gedik import Harvest
from shedjoin.policies.learned import Expected, Valued
from shedjoin.policies.samples import BestSample, EqCluster, Uniform
from shedjoin.spec.budget import Budget
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.spec.shedding import Combine, Discipline, Shedding


@dataclass(frozen=True, slots=True)
class MostResults:
    """Keep the rows that bring the most results."""

    def policy(self) -> Policy:
        """The policy for this goal."""
        return Expected()


@dataclass(frozen=True, slots=True)
class MostImportant:
    """Keep the rows that bring the greatest total importance of results.

    Parameters
    ----------
    importance : column, ByCategory, ByRange, Spark expression, or a pair of them
        Importance of the rows. A column name holds for each stream that has the column.
        For two streams, a pair (left, right) can be given. For more streams, a dict by
        stream can be given. With None, a stream has no importance, and the importance
        of a result depends on its other rows. A row whose importance is null or NaN has
        importance 0. Importances may be negative. If they exceed 1e150 or are infinite,
        1e150 is used.
    combine : {"min", "max", "sum", "product", "mean"}, default "min"
        How the importance of a result is computed from those of its rows.
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
        """The policy for this goal."""
        return self.by or Valued()


@dataclass(frozen=True, slots=True)
class Sample:
    """Keep a sample of the join, from which aggregates can be estimated.

    Results have two more columns, ``_weight`` and ``_cluster``, for
    :func:`shedjoin.aggregate`. Rows may come out of order by up to the lateness of the
    streams: after its window, a row stays in the sample for that time.

    Parameters
    ----------
    by : Policy, optional
        One of ``EqCluster``, ``PpsCluster`` and ``Uniform``. By default, the scheme
        with the least predicted error is used. ``scheme`` in the report compares the
        schemes. On Spark, the progress has the predicted variances ``variance_eq``,
        ``variance_pps`` and ``variance_uniform``.
    of : column, ByCategory, ByRange, Spark expression, or a pair of them, optional
        The quantity whose sum matters most. It is given in the same form as the
        importance of :class:`MostImportant`. The value of a result is the value of its
        row in the stream with the column. If both streams have the column, or a pair
        (left, right) is given, the value of a result is the product of both. Rows are
        sampled in proportion to their expected matches times their absolute value, or
        in proportion to the value alone, if this is predicted to be better. Then the
        sum of the values has the smallest error. Counts and other sums have larger
        errors, but are unbiased as well. A value that is zero, null, NaN or below 5 %
        of the mean is taken as 5 % of the mean, so that every row has a chance.

    Examples
    --------
    >>> from shedjoin import Sample, policies
    >>> Sample().policy(seed=3)
    BestSample(seed=3)
    >>> Sample(of="bid", by=policies.Uniform())
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Sample(of='bid') with by=Uniform(fraction=1.0, \
seed=0), which does not go by values.
    Fix: leave out by=, write by=policies.PpsCluster(), or leave out of=.
    """

    by: Policy | None = None
    of: Any = None

    def __post_init__(self) -> None:
        if self.by is not None and not isinstance(self.by, SamplingPolicy):
            column = self.by if isinstance(self.by, str) else "column"
            raise ParameterError(
                f"Sample(by={self.by!r}) is not a sample.",
                fix=f"write Sample(of={column!r}) for the sum of a column, Sample() "
                "for counts, or Sample(by=policies.PpsCluster()). The budget says how "
                "large the sample is.",
            )
        if self.of is not None and isinstance(self.by, EqCluster | Uniform):
            raise ParameterError(
                f"Sample(of={self.of!r}) with by={self.by!r}, which does not go by "
                "values.",
                fix="leave out by=, write by=policies.PpsCluster(), or leave out of=.",
            )

    def policy(self, seed: int) -> Policy:
        """The policy for this goal."""
        return self.by or BestSample(seed)


Goal = MostResults | MostImportant | Sample


def values_of(keep: Goal | Policy | None) -> Any:  # noqa: ANN401  (as a user gives it)
    """Importance of a goal, or the quantity of a sample; None if it has neither."""
    if isinstance(keep, MostImportant):
        return keep.importance
    return keep.of if isinstance(keep, Sample) else None


_WRITTEN = {
    "mostresults": "MostResults()",
    "mostimportant": 'MostImportant("column")',
    "sample": "Sample()",
}


def _meant(keep: object) -> str:
    """Return how to write the goal or policy that a wrong argument probably means."""
    name = keep if isinstance(keep, str) else getattr(keep, "__name__", "")
    plain = name.lower().replace("_", "").removesuffix("()")
    if plain in _WRITTEN:
        return _WRITTEN[plain]
    kinds, known = [Policy], dict[str, str]()
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        known[kind.__name__.lower()] = f"policies.{kind.__name__}()"
    return known.get(plain, "MostResults(), or a policy such as policies.Prob()")


def shedding_of(
    budget: Budget | None,
    keep: Goal | Policy | None,
    *,
    discipline: Discipline = "probe_then_insert",
    recompute: Recompute = DEFAULT,
    seed: int = 0,
    by_predicates: bool = False,
) -> Shedding | None:
    """Combine the arguments of a join for its budget; None if there is no budget."""
    if budget is None:
        if keep is not None:
            raise ParameterError(
                f"keep={keep!r} without a budget: nothing would be shed.",
                fix='add budget=Budget(memory="512 MB"), or leave keep out.',
            )
        return None
    goal = MostResults() if keep is None else keep
    combine: Combine = "product" if isinstance(goal, Sample) else "min"
    if isinstance(goal, MostImportant):
        combine = goal.combine
    if by_predicates and isinstance(goal, MostResults) and not budget.limits_memory:
        policy: Policy = Harvest()
    elif isinstance(goal, Sample):
        policy = goal.policy(seed)
    else:
        policy = goal.policy() if isinstance(goal, Goal) else goal
    if not isinstance(policy, Policy):
        raise ParameterError(
            f"keep={policy!r} is neither a goal nor a policy.",
            fix=f"write keep={_meant(policy)}.",
        )
    if policy.by_predicates and isinstance(goal, MostImportant):
        raise ParameterError(
            f"{policy!r} saves work and knows no importance.",
            fix=f"write keep=policies.{policy!r}.",
        )
    load = ValuePni(valued=isinstance(goal, MostImportant))
    written = "" if keep is None else repr(keep)
    return Shedding(
        *(budget, policy, discipline, recompute, combine, seed, load), keep=written
    )
