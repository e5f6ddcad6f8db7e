"""Random tables with nulls, NaN, minus zero, text and rows that stand there twice."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.versions.folder import Begin, Description, VersionFolder
from shedjoin.versions.log import VersionLog

SCHEMA = pa.schema([("a", pa.int64()), ("x", pa.float64()), ("s", pa.string())])
OTHER_NAN = struct.unpack("<d", struct.pack("<q", 0x7FF8_0000_0000_0001))[0]
NUMBERS = [None, float("nan"), OTHER_NAN, 0.0, -0.0, 1.5]
WORDS = [None, "", "a", "ä b"]

Row = tuple[Any, ...]


def random_table(rng: np.random.Generator, rows: int) -> pa.Table:
    """Few values each, so that rows repeat and two tables share many."""
    picked = [
        [[None, 1, 2][i] for i in rng.integers(0, 3, rows)],
        [NUMBERS[i] for i in rng.integers(0, len(NUMBERS), rows)],
        [WORDS[i] for i in rng.integers(0, len(WORDS), rows)],
    ]
    return pa.table(picked, schema=SCHEMA)


def row_set(table: pa.Table) -> set[Row]:
    """The truth: a set of Python's, in which a NaN is a word and zero has no sign."""
    return {tuple(map(_value, row.values())) for row in table.to_pylist()}


def rows_of(table: pa.Table) -> list[Row]:
    """Rows as in row_set, one by one."""
    return [tuple(map(_value, row.values())) for row in table.to_pylist()]


def _value(value: object) -> object:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


def described(path: Path, begin: Begin = "always") -> VersionFolder:
    """A folder that says what it is of."""
    folder = VersionFolder(path)
    folder.describe(Description({"columns": 3}, "change", "at", begin))
    return folder


def writer(folder: VersionFolder) -> VersionLog:
    """The one writer of a folder."""
    log = VersionLog.acquire(folder)
    assert log is not None
    return log


def replay(folder: VersionFolder) -> list[set[Row]]:
    """What a reader makes of all versions: the rows after each, changes one by one."""
    states: list[set[Row]] = []
    rows: set[Row] = set()
    last_at = None
    for number in range(1, folder.last() + 1):
        for batch in folder.read(number, number):
            for *row, change, at in (tuple(row.values()) for row in batch.to_pylist()):
                key = tuple(map(_value, row))
                assert (key in rows) == (change == "delete")
                (rows.add if change == "insert" else rows.discard)(key)
                assert last_at is None or at >= last_at
                last_at = at
        states.append(set(rows))
    return states
