"""How a join sheds: the part of its spec that may change between two starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from shedjoin.core.budget import Budget
from shedjoin.core.policy import Discipline, Policy
from shedjoin.core.recompute import DEFAULT, Recompute
from shedjoin.errors import ParameterError

Combine = Literal["min", "max", "sum", "product", "mean"]
"""Importance of a pair from those of its two rows."""


@dataclass(frozen=True, slots=True)
class Shedding:
    """Budget, policy and order of a join that sheds."""

    budget: Budget
    policy: Policy
    discipline: Discipline = "probe_then_insert"
    recompute: Recompute = DEFAULT
    combine: Combine = "min"
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.budget, Budget):
            raise ParameterError(
                f"budget={self.budget!r} is not a budget.",
                fix='write budget=Budget(memory="512 MB").',
            )
        if not isinstance(self.policy, Policy):
            raise ParameterError(
                f"keep={self.policy!r} is neither a goal nor a policy.",
                fix="write keep=MostResults(), or a policy such as policies.Prob().",
            )
        for name, choices in (("discipline", Discipline), ("combine", Combine)):
            value = getattr(self, name)
            if value not in get_args(choices):
                raise ParameterError(
                    f"{name}={value!r} is not known.",
                    fix=f"choose one of {', '.join(get_args(choices))}.",
                )

        if self.policy.samples and self.discipline != "probe_then_insert":
            raise ParameterError(
                f"discipline={self.discipline!r} leaves results out by what else came "
                "at the same instant; weights of a sample could not say how likely.",
                fix='write discipline="probe_then_insert", the default.',
            )

    @property
    def combine_code(self) -> int:
        """Number of the combiner in the kernels."""
        return get_args(Combine).index(self.combine)

    @property
    def coin_seed(self) -> int:
        """Seed of the coins: that of a sample, whose own seed draws all of it."""
        own = self.policy.samples
        return int(getattr(self.policy, "seed", self.seed)) if own else self.seed
