"""How a join sheds: the part of its spec that may change between two starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from shedjoin.errors import ParameterError
from shedjoin.spec.budget import Budget
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.spec.throttle import OPEN, Throttle

if TYPE_CHECKING:  # a policy is made of models and kernels, far below a spec
    from shedjoin.policies.base import LoadPolicy, Policy
    from shedjoin.spec.importance import Importances

Discipline = Literal[
    "probe_then_insert", "shed_then_join", "shed_then_probe", "probe_then_shed"
]
"""``probe_then_insert``: an arrival meets the other side, then is stored or not.
``shed_then_join``: the arrivals of an instant are stored, shedding is done, and only
who is left meets the other side (iJoin). ``shed_then_probe``: shedding is done as well,
but all arrivals meet who is left, and those of their instant (star-streaming join).
``probe_then_shed``: the arrivals of an instant meet the other side and each other
before shedding is done."""

Combine = Literal["min", "max", "sum", "product", "mean"]
"""Importance of a pair from those of its two rows."""


@dataclass(frozen=True, slots=True)
class Shedding:
    """Budget, policy and order of a join that sheds.

    ``policy`` decides who stays within memory; ``load`` which work is done while the
    ``throttle`` allows less than all, unless ``policy`` decides that too.
    ``importance`` is that of a message, in place of the one that comes with the rows.
    """

    budget: Budget
    policy: Policy
    discipline: Discipline = "probe_then_insert"
    recompute: Recompute = DEFAULT
    combine: Combine = "min"
    seed: int = 0
    load: LoadPolicy | None = None
    throttle: Throttle = OPEN
    importance: Importances | None = None
    keep: str = ""
    """The argument of that name, for messages; empty if the policy came by itself."""

    def __post_init__(self) -> None:
        if not isinstance(self.budget, Budget):
            raise _no_budget(self.budget)
        for name, choices in (("discipline", Discipline), ("combine", Combine)):
            value = getattr(self, name)
            if value not in get_args(choices):
                raise ParameterError(
                    f"{name}={value!r} is not known.",
                    fix=f"choose one of {', '.join(get_args(choices))}.",
                )

    @property
    def is_foreseen(self) -> bool:
        """Whether it can be told what would be kept with another budget."""
        return self.discipline == "probe_then_insert" and self.policy.is_foreseen

    @property
    def learns(self) -> bool:
        """Whether the models are asked, now or as soon as work has to be saved.

        Or needed to tell the recall: who keeps rows by their partners favours keys that
        may not be monitored.
        """
        by_load = self.budget.cpu is not None or self.throttle.active
        return by_load or bool({"models", "partners"} & set(self.policy.reads))

    @property
    def tie(self) -> int:
        """Sign of arrival numbers among equal scores: the lowest leaves first."""
        return 1 if self.policy.ties == "oldest" else -1

    @property
    def combine_code(self) -> int:
        """Number of the combiner in the kernels."""
        return get_args(Combine).index(self.combine)

    @property
    def coin_seed(self) -> int:
        """Seed of the coins: that of a sample, whose own seed draws all of it."""
        own = self.policy.samples
        return int(getattr(self.policy, "seed", self.seed)) if own else self.seed


def _no_budget(given: object) -> ParameterError:
    """Say what a number or a mapping in place of a budget may have meant."""
    meant = 'memory="512 MB"'
    if isinstance(given, Mapping):
        meant = ", ".join(f"{name}={value!r}" for name, value in given.items())
    elif isinstance(given, int):
        meant = f"rows={given}"
    return ParameterError(
        f"budget={given!r} is not a budget.", fix=f"write budget=Budget({meant})."
    )
