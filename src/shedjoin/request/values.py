"""Checks of the columns that a goal uses: importances, or the values of a sample."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from shedjoin.errors import ColumnTypeError
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal, values_of
from shedjoin.request.streams import Stream
from shedjoin.spec.importance import by_stream

_NO_NUMBERS = (
    *(pa.types.is_null, pa.types.is_string, pa.types.is_large_string),
    *(pa.types.is_binary, pa.types.is_nested),
)


def check_values(streams: Sequence[Stream], keep: Goal | Policy | None) -> None:
    """Refuse columns that are missing, or that have values other than numbers."""
    values = values_of(keep)
    if values is None:
        return
    columns = {stream.name: stream.names for stream in streams}
    sources = by_stream(values, columns, streams[0].fold)
    for stream, source in zip(streams, sources, strict=True):
        if not isinstance(source, str):
            continue
        column = stream.column(*stream.resolve(source))
        if any(is_none(column.arrow) for is_none in _NO_NUMBERS):
            raise ColumnTypeError(
                f"keep= goes by the column {source!r} of the {stream.name} stream, "
                f"which is of type {column.type}.",
                fix=f'pass a column of numbers, or ByCategory("{source}", {{...}}).',
            )
