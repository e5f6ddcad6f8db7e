"""Which columns are joined, and under which names they come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from shedjoin.errors import ColumnError, ParameterError

On: TypeAlias = str | Sequence[str] | Mapping[str, str]
"""One name, several names, or a mapping from left to right names."""


SIDES = ("left", "right")
"""Names of the streams of a join of two."""


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of the result: where it comes from and what it is called.

    Without a ``stream`` it is something that the join itself says of a result.
    """

    stream: int | None
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


def require_columns(
    stream: str, names: Sequence[str], available: Sequence[str]
) -> None:
    """Raise if a name is not exactly one of the available columns."""
    count = Counter(available)
    wrong = [name for name in names if count[name] != 1]
    if wrong:
        what = "several columns" if count[wrong[0]] else "no column"
        raise ColumnError(
            f"the {stream} stream has {what} {wrong[0]!r}.",
            fix=f"use one of its columns: {', '.join(map(repr, count))}.",
        )


def output_columns(
    columns: Sequence[Sequence[str]],
    keys: Sequence[Sequence[str]],
    suffixes: Sequence[str],
) -> tuple[OutputColumn, ...]:
    """Name the columns of the result, given those of each stream and its keys.

    As in Spark's own join by name: keys of the same name come first and once, then
    the other columns, stream by stream. A name that stands in several streams gets the
    suffix of its stream.
    """
    shared = [names[0] for names in zip(*keys, strict=True) if len(set(names)) == 1]
    rest = [
        (stream, name)
        for stream, own in enumerate(columns)
        for name in own
        if name not in shared
    ]
    twice = {name for name, n in Counter(name for _, name in rest).items() if n > 1}
    found = [OutputColumn(0, name, name) for name in shared]
    found += [
        OutputColumn(stream, name, name + suffixes[stream] if name in twice else name)
        for stream, name in rest
    ]
    clash = [c for c, n in Counter(column.name for column in found).items() if n > 1]
    if clash:
        raise ColumnError(
            f"the result would have several columns {clash[0]!r}.",
            fix=f"rename one of them, or pass suffixes other than {tuple(suffixes)!r}.",
        )
    return tuple(found)
