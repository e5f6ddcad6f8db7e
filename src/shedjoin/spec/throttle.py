"""The throttle: how much of its work a join may do."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from shedjoin.errors import ParameterError

_MOST = 1e9
"""Limit of the work of a row or a result, so that sums of squares stay finite."""


@dataclass(frozen=True, slots=True)
class Throttle:
    """The share of a join's work that is to be done, and how work is counted.

    Work is counted, not timed: ``update`` for every row that is stored, ``match`` for
    every result. The share is a part of the work that the join would do if it shed
    nothing. Work that a join cannot save, such as reading its input, does not count. In
    a join by predicates, ``update`` is the work of comparing an arrival with one
    resident, and all rows are stored.

    Parameters
    ----------
    share : float, default 1.0
        Part of the work without shedding, from 0 to 1.
    update, match : float, default 1.0
        Work of one stored row (or one comparison) and of one result, in a common unit.

    Examples
    --------
    >>> Throttle().active, Throttle(share=0.5).active
    (False, True)
    """

    share: float = 1.0
    update: float = 1.0
    match: float = 1.0

    def __post_init__(self) -> None:
        for name in ("share", "update", "match"):
            value = getattr(self, name)
            known = isinstance(value, Real) and not isinstance(value, bool)
            if not known or not 0 <= value <= _MOST:
                raise ParameterError(
                    f"throttle {name}={value!r} is not a number from 0 to {_MOST:.0e}.",
                    fix=f'write {{"{name}": 0.5}}.',
                )
        if self.share > 1:
            raise ParameterError(
                f"throttle share={self.share!r} is more than all work.",
                fix="write a share from 0 to 1; 1 sheds nothing.",
            )
        if not self.update and not self.match:
            raise ParameterError(
                "a throttle whose update and match cost nothing limits nothing.",
                fix="write the work of a stored row and of a result, such as 1 and 1.",
            )

    @property
    def active(self) -> bool:
        """Whether any work is to be saved."""
        return self.share < 1.0


OPEN = Throttle()
"""A throttle that saves no work."""
