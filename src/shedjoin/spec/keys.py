"""Which columns are joined, and under which names they come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from shedjoin.errors import ColumnError, ParameterError
from shedjoin.types import LEFT, RIGHT

On: TypeAlias = str | Sequence[str] | Mapping[str, str]
"""One name, several names, or a mapping from left to right names."""


SAMPLE = 2
"""In place of a side: what the join itself says of a result."""


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of the result: where it comes from and what it is called."""

    side: int
    source: str
    name: str


def key_pairs(on: On | object) -> tuple[tuple[str, str], ...]:
    """Pairs of (left, right) key column names."""
    if isinstance(on, str):
        pairs = [(on, on)]
    elif isinstance(on, Mapping):
        pairs = list(on.items())
    elif isinstance(on, Iterable):
        pairs = [(name, name) for name in on]
    else:
        pairs = []
    if not pairs or not all(isinstance(name, str) for pair in pairs for name in pair):
        raise ParameterError(
            f"on={on!r} names no key columns.",
            fix='pass on="id", on=["a", "b"], or on={"left_id": "right_id"}.',
        )
    return tuple(pairs)


def require_columns(side: str, names: Sequence[str], available: Sequence[str]) -> None:
    """Raise if a name is not exactly one of the available columns."""
    count = Counter(available)
    wrong = [name for name in names if count[name] != 1]
    if wrong:
        what = "several columns" if count[wrong[0]] else "no column"
        raise ColumnError(
            f"the {side} stream has {what} {wrong[0]!r}.",
            fix=f"use one of its columns: {', '.join(map(repr, count))}.",
        )


def output_columns(
    left: Sequence[str],
    right: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    suffixes: tuple[str, str],
) -> tuple[OutputColumn, ...]:
    """Name the columns of the result.

    As in Spark's own join by name: keys of the same name come first and once, then
    the other columns of the left stream, then those of the right one. A name that
    stands on both sides gets the suffix of its side.
    """
    shared = [a for a, b in pairs if a == b]
    rest = [(LEFT, name) for name in left if name not in shared]
    rest += [(RIGHT, name) for name in right if name not in shared]
    twice = {name for name, n in Counter(name for _, name in rest).items() if n > 1}
    columns = [OutputColumn(LEFT, name, name) for name in shared]
    columns += [
        OutputColumn(side, name, name + suffixes[side] if name in twice else name)
        for side, name in rest
    ]
    clash = [c for c, n in Counter(column.name for column in columns).items() if n > 1]
    if clash:
        raise ColumnError(
            f"the result would have several columns {clash[0]!r}.",
            fix=f"rename one of them, or pass suffixes other than {suffixes!r}.",
        )
    return tuple(columns)
