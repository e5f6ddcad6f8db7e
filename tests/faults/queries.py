"""A query under test: a call of the local runner, and the arguments of its starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from shedjoin.local.run import Run

Options: TypeAlias = Mapping[str, Any]
"""Arguments that may differ from start to start: budget, policy and the like."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query that is started once, or again and again.

    Attributes
    ----------
    call
        A function of ``shedjoin.local`` with the streams and all arguments that stay.
    starts
        Arguments of each start by its first micro-batch; the first one is 0.
    table
        The relation is a table, which Spark sends to the workers with the join.
    steered
        The query has a control folder.
    """

    call: Callable[..., Run]
    starts: Mapping[int, Options]
    table: bool = False
    steered: bool = False

    @property
    def calls(self) -> list[Callable[[], Run]]:
        """One call for each start, over the whole stream."""
        return [partial(self.call, **options) for options in self.starts.values()]

    def start_of(self, number: int) -> int:
        """Count the starts before the one that a micro-batch belongs to."""
        return sum(first <= number for first in self.starts) - 1


def once(call: Callable[..., Run], **options: object) -> Query:
    """Return a query that is started once, with these arguments."""
    return Query(call, {0: options})
