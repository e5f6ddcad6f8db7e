"""The relation through which two streams are joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shedjoin.errors import ParameterError
from shedjoin.spec.keys import SIDES, Fold, resolve_columns
from shedjoin.spec.window import Duration, parse_duration

RELATION = 2
"""The number of the relation among the blobs and segments of a join of two streams."""
LEFT_KEY, RIGHT_KEY = "__shedjoin_left", "__shedjoin_right"
"""Columns of packed relation rows: 64-bit keys of the rows that they relate."""
BEGIN, END = "__shedjoin_begin", "__shedjoin_end"
"""Columns with the start (inclusive) and end (exclusive) of a row's validity, in
microseconds."""
TOLD = "__shedjoin_told"
"""Hash of the columns that results contain. Rows that differ in them are different
rows."""
DELETED = "__shedjoin_deleted"
"""Whether the row is a deletion. A deletion ends other rows at the time of its end."""
ALWAYS_US = 1 << 62
"""A time after all others. Its negative is a time before all others."""


@dataclass(frozen=True, slots=True)
class RelationSpec:
    """Columns of a relation, and how its rows change.

    Parameters
    ----------
    columns : tuple of (str, str)
        Names and types.
    keys : tuple of tuple of str
        Columns that equal the keys of the left stream, and those that equal the keys of
        the right one. In a join with one stream, the first part has the columns that
        equal its keys. The second part has all columns that identify a relation row,
        including those of the first part.
    begin, end : str, optional
        Columns with the start (inclusive) and end (exclusive) of a row's validity. A
        null is no limit.
    change : str, optional
        Column with the kind of a change, ``"insert"`` or ``"delete"``. The column
        ``begin`` has the time of the change.
    delay_us : int
        Time for which rows of a stream wait for relation rows, beyond the watermark.
    fixed : bool
        Whether the relation never changes.
    told : tuple of str
        Columns of the relation that results of two streams contain.
    """

    columns: tuple[tuple[str, str], ...]
    keys: tuple[tuple[str, ...], tuple[str, ...]]
    begin: str | None = None
    end: str | None = None
    change: str | None = None
    delay_us: int = 0
    fixed: bool = False
    told: tuple[str, ...] = ()

    @property
    def used_columns(self) -> tuple[str, ...]:
        """Columns with keys, times and changes, and those that results contain."""
        when = (self.begin, self.end, self.change)
        named = (*self.keys[0], *self.keys[1], *when, *self.told)
        return tuple(dict.fromkeys(name for name in named if name is not None))


def check_relation(
    columns: Sequence[str],
    valid: tuple[str, str] | None,
    change: tuple[str, str] | None,
    fold: Fold = str,
) -> RelationSpec:
    """Find when relation rows are active: always, between two times, or by changes."""
    if valid is not None and change is not None:
        raise ParameterError(
            f"valid={valid!r} and change={change!r} both say when relation rows are "
            "active.",
            fix="pass one of them.",
        )
    if change is not None:
        pair = _two_columns("change", change, "what happens, then when")
        what, at = resolve_columns("relation", pair, columns, fold)
        return RelationSpec((), ((), ()), begin=at, change=what)
    if valid is not None:
        pair = _two_columns("valid", valid, "when rows begin, then when they end")
        begin, end = resolve_columns("relation", pair, columns, fold)
        return RelationSpec((), ((), ()), begin=begin, end=end)
    return RelationSpec((), ((), ()))


def _two_columns(argument: str, given: object, what: str) -> tuple[str, str]:
    """Two columns of the relation."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        names = [name for name in given if isinstance(name, str)]
        if len(names) == len(given) == len(SIDES):
            return names[0], names[1]
    raise ParameterError(
        f"{argument}={given!r} does not name two columns of the relation.",
        fix=f'pass {argument}=("...", "..."), the columns that say {what}.',
    )


def parse_delay(delay: Duration) -> int:
    """Time for which rows wait for a relation row, in microseconds."""
    delay_us = parse_duration(delay)
    if delay_us < 0:
        raise ParameterError(
            f"delay={delay!r} is below 0.", fix='pass delay="0 seconds", or more.'
        )
    return delay_us
