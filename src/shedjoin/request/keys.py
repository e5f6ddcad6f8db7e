"""Checks of key columns: their types must be comparable, and equal in all streams."""

from __future__ import annotations

from collections.abc import Sequence

from shedjoin.errors import ColumnTypeError
from shedjoin.request.streams import Column, Stream


def check_keys(streams: Sequence[Stream], keys: Sequence[tuple[str, ...]]) -> bool:
    """Refuse keys that cannot be joined; return whether a key fits into 64 bits."""
    columns = [
        [stream.column(name) for name in own]
        for stream, own in zip(streams, keys, strict=True)
    ]
    first = columns[0]
    for column in first:
        if not column.is_key:
            raise ColumnTypeError(
                f"key {column.name!r} is of type {column.type}, which cannot be hashed "
                "or compared byte by byte.",
                fix="join by another column, or by a text form of this one.",
            )
    for stream, own in zip(streams[1:], columns[1:], strict=True):
        for column, other in zip(first, own, strict=True):
            if column.type != other.type:
                raise ColumnTypeError(
                    f"key {column.name!r} of the {streams[0].name} stream is of type "
                    f"{column.type}, key {other.name!r} of the {stream.name} stream of "
                    f"type {other.type}.",
                    fix=_cast(stream, other, column),
                )
    return not first or is_direct(first)


def is_direct(columns: Sequence[Column]) -> bool:
    """Whether keys of these columns can be compared without hashing them."""
    return len(columns) == 1 and columns[0].is_short


def _cast(stream: Stream, column: Column, like: Column) -> str:
    if not stream.is_running:
        return f'cast one of them, e.g. {column.name!r} to "{like.type}".'
    return (
        f'cast one of them, e.g. {stream.name}.withColumn("{column.name}", '
        f'col("{column.name}").cast("{like.type}")).'
    )
