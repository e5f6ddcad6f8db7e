"""Archived streams in files or tables, read by ranges of event time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from shedjoin.errors import ParameterError
from shedjoin.spec.keys import resolve_columns
from shedjoin.types import IntArray

Source: TypeAlias = str | Path | pa.Table | ds.Dataset
"""A path of Parquet (a file, a folder or a pattern), a dataset or a table."""
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_GREATEST = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class ArchivedStream:
    """An archived stream: its rows, their time, and the columns that are read.

    Rows may lie in any order. Rows without a time are ignored.
    """

    rows: ds.Dataset
    time: str
    schema: pa.Schema

    def counts(self, length_us: int) -> tuple[IntArray, IntArray]:
        """Count rows by intervals of this length; intervals without rows are left out.

        The number of an interval is ``time // length_us``.
        """
        numbers, rows = np.zeros(0, np.int64), np.zeros(0, np.int64)
        for batch in self.rows.to_batches(columns=[self.time]):
            found = times_us(batch.column(0).drop_null()) // length_us
            more = np.unique(found, return_counts=True)
            numbers, place = np.unique(
                np.concatenate([numbers, more[0]]), return_inverse=True
            )
            counted = np.concatenate([rows, more[1]])
            rows = np.bincount(place, counted, numbers.size).astype(np.int64)
        return numbers, rows

    def between(self, start_us: int | None, end_us: int) -> pa.Table:
        """Rows from the start (inclusive) to the end (exclusive), sorted by time."""
        time = pc.field(self.time)
        start = None if start_us is None else self._instant(start_us)
        end = self._instant(end_us)
        wanted = time.is_valid() if end is None else time < end
        if start is not None:
            wanted &= time >= start
        found = self.rows.to_table(columns=self.schema.names, filter=wanted)
        found_us = times_us(found[self.time])
        if (np.diff(found_us) >= 0).all():
            return found
        return found.take(pa.array(np.argsort(found_us, kind="stable")))

    def _instant(self, time_us: int) -> pa.Scalar | None:
        """The first instant, in the unit of the column, that is not before this time.

        It is None if the unit cannot express this time. All times of the column are
        then earlier, or all are later.
        """
        kind = self.schema.field(self.time).type
        value = -(-time_us * _PER_SECOND[kind.unit] // _PER_SECOND["us"])
        return None if abs(value) > _GREATEST else pa.scalar(value, kind)


def times_us(column: pa.Array | pa.ChunkedArray) -> IntArray:
    """Event times in microseconds, truncated as by the join."""
    time: IntArray = column.cast(pa.timestamp("us"), safe=False).to_numpy()
    return time.view(np.int64)


def open_stream(
    name: str, source: Source, time: str, columns: Sequence[str] | None
) -> ArchivedStream:
    """Open an archived stream with all its columns, or with those that are named."""
    rows = _dataset(name, source)
    names = rows.schema.names
    if columns is not None:
        names = list(resolve_columns(name, columns, names))
    schema = pa.schema([rows.schema.field(column) for column in names])
    return ArchivedStream(rows, time, schema)


def _dataset(name: str, source: object) -> ds.Dataset:
    if isinstance(source, ds.Dataset):
        return source
    if isinstance(source, pa.Table):
        return ds.dataset(source)
    if not isinstance(source, str | Path):
        raise ParameterError(
            f"{name}={source!r} is neither a path nor a table.",
            fix="pass a path of Parquet, a pyarrow.dataset.Dataset or a pyarrow.Table.",
        )
    path = str(source)
    try:
        files = path if Path(path).exists() else _files(path) or path
        found = ds.dataset(files, format="parquet", partitioning="hive")
    except (OSError, pa.ArrowInvalid) as error:
        raise ParameterError(
            f"{name}={path!r} cannot be read as Parquet: {error}",
            fix="pass a file, a folder, or a pattern such as 'day/*.parquet'.",
        ) from error
    if not found.files:
        raise ParameterError(
            f"{name}={path!r} is a folder without Parquet files.",
            fix="pass the folder that the files lie in.",
        )
    return found


def _files(pattern: str) -> list[str]:
    """Files that match a pattern, and files in folders that match it."""
    files: list[str] = []
    for path in sorted(glob(pattern, recursive=True)):  # noqa: PTH207  (is absolute)
        folder = Path(path).is_dir()
        files += ds.dataset(path, format="parquet").files if folder else [path]
    return list(dict.fromkeys(files))
