"""Searches for the best memories of archived streams, as tasks of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from shedjoin.errors import ParameterError
from shedjoin.lab.kernels.memory_states import Gains
from shedjoin.lab.offline.search import Search, joined
from shedjoin.lab.offline.star import StarArchive
from shedjoin.spark.names import name_fold, quoted
from shedjoin.spark.shipping import Shipped
from shedjoin.types import IntArray

_TASKS = 256
"""Approximate limit of the number of pieces into which all searches are cut."""

_LEAST_ROWS = 20_000
"""Least number of rows of a piece. A task takes a tenth of a second to start. If there
are cuts, about as many rows are searched in this time."""

_LONGS, _REALS = pa.list_(pa.int64()), pa.list_(pa.float64())
_PIECES = pa.schema(
    [
        ("number", pa.int32()),
        ("capacity", pa.int64()),
        ("ranked", pa.bool_()),
        ("leave", _LONGS),
        ("start", _LONGS),
        ("step", _LONGS),
        ("weight", _REALS),
    ]
)
_FOUND = StructType(
    [
        StructField("number", IntegerType(), nullable=False),
        StructField("leaves", ArrayType(LongType()), nullable=True),
        StructField("problem", StringType(), nullable=True),
        StructField("fix", StringType(), nullable=True),
    ]
)
_FOUND_ARROW = pa.schema(
    [
        ("number", pa.int32()),
        ("leaves", _LONGS),
        ("problem", pa.string()),
        ("fix", pa.string()),
    ]
)


def collected(archive: StarArchive) -> StarArchive:
    """The archive with the needed columns in local tables.

    Rows are sorted by time, then by the other columns. So the order in which Spark
    returns them has no effect.
    """
    told = _names(archive.time, archive.on, archive.importance, archive.shard)
    facts = _names(archive.on, archive.valid)
    return replace(
        archive,
        left=_table("left", archive.left, told),
        right=_table("right", archive.right, told),
        relation=_table("relation", archive.relation, facts),
    )


def leaves_of(archive: StarArchive, searches: Sequence[Search]) -> list[IntArray]:
    """Steps at which the rows of each search should be dropped, computed by tasks."""
    rows = sum(search.leave.size for search in searches)
    cut = [search.pieces(max(_LEAST_ROWS, rows // _TASKS)) for search in searches]
    pieces = [piece for some in cut for piece in some]
    found = iter(_searched(archive, pieces) if pieces else [])
    return [joined([next(found) for _ in some]) for some in cut]


class Searcher(Shipped):
    """Function that tasks run: it returns a row with the best result for each piece."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Search the pieces one by one."""
        for batch in batches:
            for row in range(batch.num_rows):
                yield _answer(batch.slice(row, 1))


def _answer(piece: pa.RecordBatch) -> pa.RecordBatch:
    number, capacity, ranked = (piece[name][0].as_py() for name in _PIECES.names[:3])
    leave, start, step, weight = (  # copies, of the types that kernels are cached for
        np.array(piece[name][0].values) for name in _PIECES.names[3:]
    )
    search = Search(leave, Gains(start, step, weight), capacity, ranked=ranked)
    leaves, problem, fix = None, None, None
    try:
        leaves = search.leaves()
    except ParameterError as error:  # raised by the driver, without a traceback
        problem, fix = error.problem, error.fix
    columns = [[number], [leaves], [problem], [fix]]
    return pa.RecordBatch.from_arrays(
        [
            pa.array(column, kind)
            for column, kind in zip(columns, _FOUND_ARROW.types, strict=True)
        ],
        schema=_FOUND_ARROW,
    )


def _searched(archive: StarArchive, pieces: list[Search]) -> list[IntArray]:
    """Best result for each piece.

    Each piece is a partition of its own. Spark does not merge these partitions.
    """
    streams = archive.left, archive.right, archive.relation
    session = next(it for it in streams if isinstance(it, DataFrame)).sparkSession
    rows = [
        [number, piece.capacity, piece.ranked, piece.leave, *piece.gains]
        for number, piece in enumerate(pieces)
    ]
    columns = zip(*rows, strict=True)
    arrays = [pa.array(c, k) for c, k in zip(columns, _PIECES.types, strict=True)]
    frame = session.createDataFrame(pa.Table.from_arrays(arrays, schema=_PIECES))
    spread = frame.repartitionByRange(len(pieces), "number")
    found = spread.mapInArrow(Searcher(), _FOUND).toArrow().sort_by("number")
    for problem, fix in zip(found["problem"], found["fix"], strict=True):
        if problem.is_valid:
            raise ParameterError(problem.as_py(), fix=fix.as_py())
    return [np.array(leaves.values, np.int64) for leaves in found["leaves"]]


def _names(*told: object) -> list[str]:
    """All names in nested tuples and lists, each once."""
    found: dict[str, None] = {}
    for each in told:
        if isinstance(each, str):
            found[each] = None
        elif isinstance(each, tuple | list):
            found |= dict.fromkeys(_names(*each))
    return list(found)


def _table(name: str, frame: object, names: Sequence[str]) -> pa.Table | None:
    """The columns that exist, under the names that the user gave."""
    if not isinstance(frame, DataFrame):
        return frame
    if frame.isStreaming:
        raise ParameterError(
            f"{name} is a stream, and an optimum needs all of its rows.",
            fix="read the archive with spark.read.",
        )
    fold = name_fold(frame)
    there = {fold(column) for column in frame.columns}
    known = [each for each in names if fold(each) in there]
    table = frame.select(*(quoted(frame, each).alias(each) for each in known)).toArrow()
    return table.sort_by([(each, "ascending") for each in known])
