"""A polled table as a stream of its changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
    VariantType,
)

from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.spark.polled_source import FORMAT, PolledSource
from shedjoin.spark.poller import Read, start_polling
from shedjoin.spec.window import Duration, parse_duration
from shedjoin.versions.folder import Begin, Description, VersionFolder

_STALE = 3
"""By default, a table is stale after this number of intervals without a reading."""


def polled_relation(  # noqa: PLR0913  (one function; all else by keyword)
    read: Read,
    *,
    log: str | Path,
    every: Duration,
    stale_after: Duration | None,
    timeout: Duration,
    lead: Duration,
    change: str,
    at: str,
    begin: Begin,
) -> DataFrame:
    """Start a poller, and read its versions as a stream."""
    every_s, timeout_s = _seconds("every", every), _seconds("timeout", timeout)
    stale_s = _STALE * every_s
    if stale_after is not None:
        stale_s = _seconds("stale_after", stale_after)
    _check(read, change, at, begin, every_s, stale_s)
    folder = VersionFolder(log)
    session, schema = _table(read, folder, change, at)
    told = Description(json.loads(schema.json()), change, at, begin)
    known = StructType.fromJson(folder.describe(told).schema)
    lead_us = parse_duration(lead)
    start_polling(_same_columns(read, known), folder, every_s, session, lead_us)
    session.dataSource.register(PolledSource)
    own = [StructField(change, StringType()), StructField(at, TimestampType())]
    return (
        session.readStream.format(FORMAT)
        .schema(StructType([*known.fields, *own]))
        .option("log", str(folder.path))
        .option("stale_after", str(stale_s))
        .option("timeout", str(timeout_s))
        .load()
    )


def _table(
    read: Read, folder: VersionFolder, change: str, at: str
) -> tuple[SparkSession, StructType]:
    """The session and the columns. At a restart, the table is not read for them."""
    known = folder.description()
    session = SparkSession.getActiveSession()
    if known is not None and session is not None:
        return session, StructType.fromJson(known.schema)
    frame: object = read()
    if not isinstance(frame, DataFrame) or frame.isStreaming:
        raise ParameterError(
            f"read() gave {frame!r}, which is not a table.",
            fix="pass a function that gives a batch DataFrame, such as "
            'lambda: spark.read.jdbc(url, "ads").',
        )
    _check_columns(frame.schema, {change, at})
    fields = [StructField(field.name, field.dataType) for field in frame.schema]
    return frame.sparkSession, StructType(fields)


def _same_columns(read: Read, known: StructType) -> Read:
    """Make ``read`` check that the table still has the columns that it had at first."""
    wanted = [(field.name, field.dataType) for field in known]

    def read_checked() -> DataFrame:
        frame = read()
        found = [(field.name, field.dataType) for field in frame.schema]
        if found != wanted:
            raise ColumnTypeError(
                f"the table now has {_said(found)}, its versions have {_said(wanted)}.",
                fix="let read() select and cast the columns that it had, or use "
                "another log= and a new checkpointLocation.",
            )
        return frame

    return read_checked


def _check_columns(schema: StructType, own: set[str]) -> None:
    names = [name.lower() for name in schema.names]
    clashes = sorted(name for name in own if name.lower() in names)
    if clashes or len(set(names)) < len(names):
        raise ParameterError(
            f"the table has the columns {schema.names}, but "
            + (
                f"columns named {clashes} are added by polled_relation."
                if clashes
                else "two have the same name."
            ),
            fix='choose other names with change="..." and at="...", or rename the '
            "columns in read().",
        )
    for field in schema:
        if isinstance(field.dataType, ArrayType | MapType | StructType | VariantType):
            raise ColumnTypeError(
                f"column {field.name!r} is of type {field.dataType.simpleString()}, "
                "which cannot be compared between two versions.",
                fix=f'let read() give it as text, for example F.to_json("{field.name}")'
                ", or leave it out.",
            )


def _check(
    read: object, change: str, at: str, begin: str, every_s: float, stale_s: float
) -> None:
    if not callable(read):
        raise ParameterError(
            f"read={read!r} is not a function.",
            fix='pass lambda: spark.read.jdbc(url, "ads").',
        )
    if change.lower() == at.lower():
        raise ParameterError(
            f"change={change!r} and at={at!r} are one name.", fix="choose two."
        )
    if begin not in get_args(Begin):
        raise ParameterError(
            f"begin={begin!r} is unknown.", fix='pass "always" or "observed".'
        )
    if stale_s < every_s:
        raise ParameterError(
            f"stale_after is {stale_s:g} s, but the table is read every {every_s:g} s.",
            fix="let stale_after be some times as long as every, or leave it out.",
        )


def _seconds(name: str, value: Duration) -> float:
    microseconds = parse_duration(value)
    if microseconds <= 0:
        raise ParameterError(
            f"{name}={value!r} is no time at all.", fix=f'pass {name}="5 seconds".'
        )
    return microseconds / 1e6


def _said(columns: list[tuple[str, DataType]]) -> str:
    return ", ".join(f"{name} {kind.simpleString()}" for name, kind in columns)
