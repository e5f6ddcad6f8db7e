"""Costs of the units of work of a join."""

from __future__ import annotations

from dataclasses import dataclass

from shedjoin.plan.model import not_negative


@dataclass(frozen=True, slots=True)
class Costs:
    """Work of one insertion with its later expiry, and of one match.

    ``update`` is Cu of equation 2 of Ayad et al. ``match``, the work to find and to
    produce a result, is Cp. Both are in the unit of the work that they are compared
    with.

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
