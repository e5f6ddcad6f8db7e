"""Streams as a request sees them, whichever engine they come from."""

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

    ``type`` is what its engine calls the type. ``arrow`` is the type in which rows
    carry it, null for types that only functions take. ``is_key`` says that its values
    can be hashed and compared byte by byte, ``is_short`` that 64 bits hold a value.
    """

    name: str
    type: str
    arrow: pa.DataType
    is_key: bool
    is_short: bool

    @property
    def is_time(self) -> bool:
        """Whether it can be an event time."""
        return bool(pa.types.is_timestamp(self.arrow))


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream, or the relation of a join.

    Parameters
    ----------
    name : str
        What the user calls it.
    columns : tuple of Column
        Its columns.
    fold : callable
        What is left of a column's name where names are compared.
    is_running : bool
        It is a stream of an engine, which needs a watermark. Tables need none.
    marked : tuple of str
        Columns on which a watermark was defined.
    lags_us : dict
        Columns that keep up with the watermark, each with how far it may lag behind.
    is_result : bool
        It is the result of another join.
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
        """Find columns as they are called."""
        return resolve_columns(self.name, names, self.names, self.fold)

    def column(self, name: str) -> Column:
        """Give a column by its exact name."""
        return self.columns[self.names.index(name)]

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns as rows carry them."""
        return pa.schema([(column.name, column.arrow) for column in self.columns])
