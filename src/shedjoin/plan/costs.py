"""Costs of the units of work of a join."""

from __future__ import annotations

from dataclasses import dataclass

from shedjoin.plan.model import not_negative


@dataclass(frozen=True, slots=True)
class Costs:
    """Work of storing one row until it expires, and of one match.

    ``update`` is Cu of equation 2 of Ayad et al.: the work of one insertion and of the
    expiry that follows. ``match`` is Cp, the work to find and to produce a result. Both
    are in the unit of the work that they are compared with.

    Examples
    --------
    >>> Costs(update=0.02, match=0.005)
    Costs(update=0.02, match=0.005)
    """

    update: float
    match: float

    def __post_init__(self) -> None:
        not_negative("update", self.update)
        not_negative("match", self.match)
