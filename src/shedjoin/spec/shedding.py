"""How a join sheds: the part of its spec that may change between two starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from shedjoin.errors import ParameterError
from shedjoin.spec.budget import Budget
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.spec.throttle import OPEN, Throttle

if TYPE_CHECKING:  # policies import models and kernels
    from shedjoin.policies.base import LoadPolicy, Policy
    from shedjoin.spec.importance import Importances

Discipline = Literal[
    "probe_then_insert", "shed_then_join", "shed_then_probe", "probe_then_shed"
]
"""Order of joining and shedding. ``probe_then_insert``: an arrival is joined with the
other stream, then it is stored or not. ``shed_then_join``: the arrivals of an instant
are stored, rows are shed, and only the arrivals that are left are joined (iJoin).
``shed_then_probe``: the arrivals are stored and rows are shed, but then all arrivals
are joined with the rows that are left, and with all arrivals of their instant
(star-streaming join). ``probe_then_shed``: the arrivals of an instant are joined with
the other stream and with each other before rows are shed."""

Combine = Literal["min", "max", "sum", "product", "mean"]
"""How the importance of a result is computed from the importances of its rows."""


@dataclass(frozen=True, slots=True)
class Shedding:
    """Budget, policy and order of a join that sheds.

    ``policy`` decides which rows are kept within the memory. ``load`` decides which
    work is done while the ``throttle`` allows less than all work, unless ``policy``
    decides that as well. ``importance`` is set by a control message, and replaces the
    importance that comes with the rows.
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
    """The argument ``keep=`` as text, for messages; empty if the user gave none."""

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
        """Whether the join can predict the recall with other budgets."""
        return self.discipline == "probe_then_insert" and self.policy.is_foreseen

    @property
    def learns(self) -> bool:
        """Whether the join learns models.

        It learns them if its policy reads them, or if work may have to be saved. It
        also learns them if the policy reads partners: such a policy favours keys that
        may not be monitored, and the estimate of the recall has to account for this.
        """
        by_load = self.budget.cpu is not None or self.throttle.active
        return by_load or bool({"models", "partners"} & set(self.policy.reads))

    @property
    def tie(self) -> int:
        """Sign of arrival numbers: if scores are equal, the lowest is shed first."""
        return 1 if self.policy.ties == "oldest" else -1

    @property
    def combine_code(self) -> int:
        """Number of the combiner in the kernels."""
        return get_args(Combine).index(self.combine)

    @property
    def coin_seed(self) -> int:
        """Seed of the coins. A sampling policy uses its own seed for them."""
        own = self.policy.samples
        return int(getattr(self.policy, "seed", self.seed)) if own else self.seed


def _no_budget(given: object) -> ParameterError:
    """Error that guesses what a number or a mapping in place of a budget means."""
    meant = 'memory="512 MB"'
    if isinstance(given, Mapping):
        meant = ", ".join(f"{name}={value!r}" for name, value in given.items())
    elif isinstance(given, int):
        meant = f"rows={given}"
    return ParameterError(
        f"budget={given!r} is not a budget.", fix=f"write budget=Budget({meant})."
    )
