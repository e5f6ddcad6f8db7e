"""Builds joined rows: the columns of matched rows, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from shedjoin.columns.equality import equal_rows
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import BoolArray, IntArray


class Met(NamedTuple):
    """Rows of one stream that were matched: a batch, and indices into it."""

    rows: pa.RecordBatch
    at: IntArray


SameKeys: TypeAlias = Callable[[JoinSpec, Sequence[Met]], BoolArray]
"""Function that returns, for each combination of matched rows, whether all of its rows
have the same key."""


def equal_keys(spec: JoinSpec, met: Sequence[Met]) -> BoolArray:
    """For each combination of matched rows, whether their key columns are equal.

    This check is needed because rows are matched by a hash of their key columns, and
    different keys may have the same hash.
    """
    same = np.ones(met[0].at.size, np.bool_)
    places = [pa.array(each.at) for each in met]
    for names in zip(*(stream.keys for stream in spec.streams), strict=True):
        first, *others = (
            each.rows.column(name).take(at)
            for each, name, at in zip(met, names, places, strict=True)
        )
        for other in others:
            same &= equal_rows(first, other)
    return same


def combine_rows(
    spec: JoinSpec,
    met: Sequence[Met],
    tags: Met | None = None,
    same_keys: SameKeys = equal_keys,
) -> Iterator[pa.RecordBatch]:
    """Yield joined rows; ``met`` has the matched rows of each stream.

    ``tags`` holds the columns that the join itself adds to each result, if there are
    any. If keys were matched by a hash, ``same_keys`` compares the keys themselves.
    """
    parts = [*met] if tags is None else [*met, tags]
    if not spec.direct:
        same = same_keys(spec, met)
        parts = [Met(each.rows, each.at[same]) for each in parts]
    return joined_columns(spec, parts)


def joined_columns(spec: JoinSpec, parts: Sequence[Met]) -> Iterator[pa.RecordBatch]:
    """Yield joined rows in one batch, or in several if a column would be too large."""
    places = [pa.array(met.at) for met in parts]
    # Columns that the join itself adds come last.
    origins = [-1 if c.stream is None else c.stream for c in spec.output]
    try:
        columns = [
            parts[origin].rows.column(column.source).take(places[origin])
            for origin, column in zip(origins, spec.output, strict=True)
        ]
    except pa.ArrowInvalid:  # over 2 GiB of text in one column
        half = len(parts[0].at) // 2
        if not half:
            raise
        for half_of in (slice(None, half), slice(half, None)):
            yield from joined_columns(spec, [Met(m.rows, m.at[half_of]) for m in parts])
    else:
        yield pa.RecordBatch.from_arrays(columns, [c.name for c in spec.output])
