"""Goals: what a budget is to keep. Each goal names the policy that serves it."""

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
        """The policy that serves this goal."""
        return Expected()


@dataclass(frozen=True, slots=True)
class MostImportant:
    """Keep the rows that bring the greatest total importance of results.

    Parameters
    ----------
    importance : column, ByCategory, ByRange, Spark expression, or a pair of them
        Importance of the rows. A column name holds for each stream that has the column.
        A pair is (left, right); several streams have a dict by stream. A stream with
        None has no importance: the other rows of a result decide. A row whose
        importance is null or NaN has importance 0. Negative importances count as they
        are. Those beyond 1e150, infinite ones included, count as 1e150.
    combine : {"min", "max", "sum", "product", "mean"}, default "min"
        How the importance of a result follows from those of its rows.
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
        """The policy that serves this goal."""
        return self.by or Valued()


@dataclass(frozen=True, slots=True)
class Sample:
    """Keep a sample of the join, from which aggregates can be estimated.

    Results have two more columns, ``_weight`` and ``_cluster``, for
    :func:`shedjoin.aggregate`. Rows may come out of order by the lateness of the
    streams: rows stay in the sample for that long after their window.

    Parameters
    ----------
    by : Policy, optional
        One of ``EqCluster``, ``PpsCluster`` and ``Uniform``. By default the one with
        the least predicted error. The report's ``scheme`` compares them. On Spark the
        progress has the three predictions, ``variance_eq``, ``variance_pps`` and
        ``variance_uniform``; the scheme with the least is used.
    of : column, ByCategory, ByRange, Spark expression, or a pair of them, optional
        The quantity whose sum matters most, given as the importance of
        :class:`MostImportant` is. The value of a result is that of its row in the
        stream that has the column. For a pair, (left, right), and for a column that
        both streams have, it is the product of both. Rows are sampled in proportion to
        their expected matches times their absolute value, or to the value alone if that
        is predicted to be better. The sum of the values then has the smallest error.
        Counts and other sums have a larger one, but stay unbiased. A value that is
        zero, null, NaN or below 5 % of the mean counts as 5 % of the mean, so that
        every row has a chance.

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
            raise ParameterError(
                f"Sample(by={self.by!r}) is not a sample.",
                fix=f"write Sample(of={self.by!r}) for the sum of a column, Sample() "
                "for counts, or Sample(by=policies.PpsCluster()).",
            )
        if self.of is not None and isinstance(self.by, EqCluster | Uniform):
            raise ParameterError(
                f"Sample(of={self.of!r}) with by={self.by!r}, which does not go by "
                "values.",
                fix="leave out by=, write by=policies.PpsCluster(), or leave out of=.",
            )

    def policy(self, seed: int) -> Policy:
        """The policy that serves this goal."""
        return self.by or BestSample(seed)


Goal = MostResults | MostImportant | Sample


def values_of(keep: Goal | Policy | None) -> Any:  # noqa: ANN401  (as a user gives it)
    """Columns that a goal uses: an importance, or the quantity of a sample."""
    if isinstance(keep, MostImportant):
        return keep.importance
    return keep.of if isinstance(keep, Sample) else None


_WRITTEN = {
    "mostresults": "MostResults()",
    "mostimportant": 'MostImportant("column")',
    "sample": "Sample()",
}


def _meant(keep: object) -> str:
    """Guess the goal or policy that is meant by a name, or by a class."""
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
    """Combine the arguments of a join that concern its budget; None without one."""
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
