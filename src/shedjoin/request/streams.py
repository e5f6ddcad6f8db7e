"""Streams and their columns, described in the same way for both engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from shedjoin.spec.keys import Fold, resolve_columns


def kind_of(value: object) -> str:
    """Type of a value for messages, with its package if it is not Python's own."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == "builtins" else f"a {package} {kind.__name__}"


class Column(NamedTuple):
    """One column of a stream.

    ``type`` is the name of the type in its engine. ``arrow`` is the type of the column
    in Arrow. It is null if only functions can use the column. ``is_key`` says whether
    values can be hashed and compared byte by byte. ``is_short`` says whether a value
    fits into 64 bits.
    """

    name: str
    type: str
    arrow: pa.DataType
    is_key: bool
    is_short: bool

    @property
    def is_time(self) -> bool:
        """Whether the column can be an event time."""
        return bool(pa.types.is_timestamp(self.arrow))


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream, or the relation of a join.

    Parameters
    ----------
    name : str
        Name that the user has given the stream.
    columns : tuple of Column
        Columns of the stream.
    fold : callable
        Function that is applied to column names before they are compared.
    is_running : bool
        Whether an engine still adds rows to the stream. If so, it needs a watermark. A
        table needs none.
    marked : tuple of str
        Columns on which a watermark was defined.
    lags_us : dict
        How far each column may lie behind the watermark, in microseconds. A column
        without such a bound is not in it.
    is_result : bool
        Whether the stream is the result of another join.
    """

    name: str
    columns: tuple[Column, ...]
    fold: Fold = str
    is_running: bool = False
    marked: tuple[str, ...] = ()
    lags_us: Mapping[str, int] = field(default_factory=dict)
    is_result: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def resolve(self, *names: str) -> tuple[str, ...]:
        """Exact names of columns; raise if a name fits no column or several."""
        return resolve_columns(self.name, names, self.names, self.fold)

    def column(self, name: str) -> Column:
        """The column of an exact name."""
        return self.columns[self.names.index(name)]

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns as rows carry them."""
        return pa.schema([(column.name, column.arrow) for column in self.columns])
