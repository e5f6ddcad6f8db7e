"""What the argument ``on=`` of a join says: key columns, predicates, or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from shedjoin.spec.multijoin import OnEach, stream_keys
from shedjoin.spec.predicates import Band, Predicate, Where

Mixed: TypeAlias = Predicate | Sequence[object]
"""A predicate, or a list of key columns and predicates."""
OnStreams: TypeAlias = OnEach | Mixed
"""Argument ``on=`` of a join."""


class Conditions(NamedTuple):
    """Key columns as a user has named them, and predicates."""

    keys: object
    predicates: tuple[Predicate, ...]

    @property
    def keyless(self) -> bool:
        """Whether there are predicates, but no key columns."""
        no_keys = isinstance(self.keys, list) and not self.keys
        return no_keys and bool(self.predicates)

    @property
    def copies(self) -> bool:
        """Whether all streams but the first must be copied to every shard."""
        return self.keyless and not any(isinstance(p, Band) for p in self.predicates)

    def stream_keys(self, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Key columns of each stream; none in a join by predicates alone."""
        return ((),) * len(names) if self.keyless else stream_keys(self.keys, names)


def split_on(on: object) -> Conditions:
    """Separate key columns from predicates.

    >>> split_on("id")
    Conditions(keys='id', predicates=())
    >>> split_on(["id", Band("price", 0.5)])
    Conditions(keys=['id'], predicates=(Band('price', 0.5),))
    >>> split_on([{"left": "id", "right": "order_id"}, Band("price", 0.5)]).keys
    {'left': 'id', 'right': 'order_id'}
    """
    if isinstance(on, Band | Where):
        return Conditions([], (on,))
    if not isinstance(on, list | tuple):
        return Conditions(on, ())
    predicates = tuple(each for each in on if isinstance(each, Band | Where))
    if not predicates:
        return Conditions(on, ())
    keys = [each for each in on if not isinstance(each, Band | Where)]
    if len(keys) == 1 and not isinstance(keys[0], str):
        return Conditions(keys[0], predicates)
    return Conditions(keys, predicates)
