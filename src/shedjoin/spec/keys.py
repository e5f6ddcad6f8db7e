"""Key columns, and the names of the columns of the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from shedjoin.errors import ColumnError, ParameterError

Fold: TypeAlias = Callable[[str], str]
"""Function that is applied to names before they are compared; ``str`` has no effect."""

_OWNERS = ("relation", "stream")
"""Names that say what has the columns; a stream of another name is a *left stream*."""
SIDES = ("left", "right")
"""Names of the streams of a join of two."""


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of the result: where it comes from and what it is called.

    If ``stream`` is None, the join itself adds the column.
    """

    stream: int | None
    source: str
    name: str


def check_pair(argument: str, given: object) -> tuple[str, str]:
    """Refuse a value that is not a pair of names."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        names = tuple(given)
        if len(names) == len(SIDES) and all(isinstance(name, str) for name in names):
            return names
    raise ParameterError(
        f"{argument}={given!r} is not a name for each side.",
        fix=f'pass two names, {argument}=("...", "..."), that of the left side first.',
    )


def resolve_columns(
    stream: str, names: Iterable[str], available: Sequence[str], fold: Fold = str
) -> tuple[str, ...]:
    """Exact names of columns; raise if a name fits no column or several.

    Names are equal if they are equal after ``fold``. If one of several such columns has
    exactly the given name, it is chosen.
    """
    found = []
    for name in names:
        exact = [column for column in available if column == name]
        same = exact or [column for column in available if fold(column) == fold(name)]
        if len(same) != 1:
            what = "several columns" if same else "no column"
            columns = dict.fromkeys(available)
            owner = stream if stream in _OWNERS else f"{stream} stream"
            raise ColumnError(
                f"the {owner} has {what} {name!r}.",
                fix=f"use one of its columns: {', '.join(map(repr, columns))}.",
            )
        found.append(same[0])
    return tuple(found)


def output_columns(
    columns: Sequence[Sequence[str]],
    keys: Sequence[Sequence[str]],
    suffixes: Sequence[str],
    fold: Fold = str,
) -> tuple[OutputColumn, ...]:
    """Name the columns of the result, given the columns and keys of each stream.

    As in Spark's own join by name, keys that have the same name in all streams come
    first, each as one column. The other columns follow, stream by stream. If several
    streams have a column of the same name, the suffixes of the streams are appended.
    """
    shared = [
        names for names in zip(*keys, strict=True) if len(set(map(fold, names))) == 1
    ]
    rest = [
        (stream, name)
        for stream, own in enumerate(columns)
        for name in own
        if name not in [names[stream] for names in shared]
    ]
    times = Counter(fold(name) for _, name in rest)
    found = [OutputColumn(0, name, name) for name, *_ in shared]
    found += [
        OutputColumn(stream, name, name + suffixes[stream] * (times[fold(name)] > 1))
        for stream, name in rest
    ]
    times = Counter(fold(column.name) for column in found)
    clash = [column.name for column in found if times[fold(column.name)] > 1]
    if clash:
        raise ColumnError(
            f"the result would have several columns {clash[0]!r}.",
            fix=f"rename one of them, or pass suffixes other than {tuple(suffixes)!r}.",
        )
    return tuple(found)


def left_columns(output: Sequence[OutputColumn]) -> tuple[OutputColumn, ...]:
    """Select the columns of the left stream, under their own names."""
    return tuple(
        OutputColumn(0, column.source, column.source)
        for column in output
        if column.stream == 0
    )
