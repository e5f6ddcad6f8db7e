"""Event time of joined rows, as Spark's later stateful operators need it.

Spark passes the watermark of a query through every operator. After the join, it refuses
``withWatermark`` ("Redefining watermark is disallowed"). Only the metadata of columns
says which column the watermark refers to, and an expression can set that metadata. If
the event time of a row lies behind the watermark, the next stateful operator drops the
row as late. So the times of that column must never lie behind the watermark. The latest
row of a result has just arrived in time, but its other rows may have waited in the
window. If t[j] is the time and keep[j] the retention of the row of stream j, these
times are never behind the watermark:

    the greatest of all times of a result
    t[j] + keep[j]                     for each stream j

So in the metadata of each time column, the join notes how far the column may lag behind
the watermark. For windows over such a column, its times are first moved forward by this
lag. When the windows are complete, they are moved back by the same lag.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)
from pyspark.sql.types import StructField, TimestampNTZType, TimestampType

from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError
from shedjoin.spark.names import name_fold, quoted
from shedjoin.spec.keys import OutputColumn
from shedjoin.spec.streams import JoinSpec

Time: TypeAlias = str | Column | Sequence[str | Column]
"""A column, or several columns. Then the latest of their times is used."""

DELAY = "spark.watermarkDelayMs"
"""Key of the metadata in which Spark notes a watermark on its column."""
_OF = "shedjoin.of"
_STREAMS = "shedjoin.streams"
_LAG = "shedjoin.lagUs"
_LATEST_LAG = "shedjoin.latestLagUs"
_SAMPLED = "shedjoin.sampled"


class EventTime(NamedTuple):
    """The event time of rows, and how far it may lie behind the watermark."""

    column: Column
    lag_us: int


def time_metadata(column: OutputColumn, spec: JoinSpec) -> dict[str, Any] | None:
    """Metadata of an event time: its streams, and how far it may lag."""
    streams = [n for n, own in enumerate(time_columns(spec)) if own == column.name]
    if not streams:
        return None
    keep_us = min(max(0, spec.keeps_us[stream]) for stream in streams)
    # A row without a partner is emitted when its wait is over.
    alone_us = {n: max(0, spec.keeps_us[n]) for n in _preserved(spec)}
    return {
        _OF: streams,
        _STREAMS: len(spec.streams),
        _LAG: max(keep_us, *(alone_us.get(n, 0) for n in streams)) + spec.lag_us,
        _LATEST_LAG: max(0, *alone_us.values(), 0) + spec.lag_us,
        **({_SAMPLED: True} if spec.samples else {}),
    }


def is_sampled(frame: DataFrame) -> bool:
    """Whether rows are results of a sampled join, by the metadata of their times."""
    return any(field.metadata.get(_SAMPLED) for field in frame.schema)


def _preserved(spec: JoinSpec) -> list[int]:
    """Streams whose rows are emitted if they find no partner."""
    return [stream for stream, own in enumerate(spec.preserves) if own]


def time_columns(spec: JoinSpec) -> list[str]:
    """The column of the result that has the event time of each stream.

    If the time is also a key, one column has the times of all streams. The right stream
    is left out if results have no columns of it.
    """
    found = []
    for number, stream in enumerate(spec.streams):
        sources = {(number, stream.time)}
        if stream.time in stream.keys:
            place = stream.keys.index(stream.time)
            sources |= {(n, own.keys[place]) for n, own in enumerate(spec.streams)}
        found += [c.name for c in spec.output if (c.stream, c.source) in sources][:1]
    return found


def with_event_time(
    joined: DataFrame, spec: JoinSpec, name: str, delay_ms: int
) -> DataFrame:
    """Add the latest time of each result, as the column of the watermark.

    Spark's deduplication keeps a row for the delay in the metadata of this column.
    """
    fold = name_fold(joined)
    if not isinstance(name, str):
        raise ParameterError(
            f"event_time={name!r} is not a name.", fix='pass event_time="matched_at".'
        )
    if fold(name) in map(fold, joined.columns):
        raise ColumnError(
            f"event_time={name!r}, but the result has a column of that name.",
            fix='choose another name, e.g. event_time="matched_at".',
        )
    if spec.how != "inner" and any(own.time in own.keys for own in spec.streams):
        raise ColumnError(
            f"event_time={name!r}, but an event time is also a key, so a row without a "
            "partner cannot be recognized by its times.",
            fix='leave out event_time=, or write how="inner".',
        )
    if spec.lag_us:
        lagging = [own.time for own in spec.streams if own.lag_us]
        raise ColumnError(
            f"event_time={name!r}, but {lagging[0]!r} may lie behind the watermark.",
            fix="give the first join an event_time, too, and join by that one.",
        )
    latest = EventTime(_never_late(joined, spec), 0)
    added = marked(latest, name, streaming=joined.isStreaming, delay_ms=delay_ms)
    return joined.select("*", added)


def _never_late(joined: DataFrame, spec: JoinSpec) -> Column:
    """A time of each result that is not behind the watermark when it is emitted.

    This is the latest time of its rows. For a row without a partner, and for a row of a
    semi join, it is the end of its wait.
    """
    names = [*dict.fromkeys(time_columns(spec))]
    times = [quoted(joined, own) for own in names]
    if spec.left_alone:
        return times[0] + F.lit(timedelta(microseconds=spec.waits_us(0)))
    latest = F.greatest(*times) if len(times) > 1 else times[0]
    for stream in _preserved(spec):
        other = times[1 - stream]
        wait = F.lit(timedelta(microseconds=spec.waits_us(stream)))
        latest = F.when(other.isNull(), times[stream] + wait).otherwise(latest)
    return latest


def longest_delay_ms(frames: Sequence[DataFrame]) -> int:
    """The longest delay of the watermarks of these streams."""
    fields = [field for frame in frames for field in frame.schema.fields]
    return max((field.metadata.get(DELAY, 0) for field in fields), default=0)


def is_joined(frame: DataFrame) -> bool:
    """Whether a stream is the result of a join of this library."""
    return any(_OF in field.metadata for field in frame.schema.fields)


def event_times(frame: DataFrame) -> dict[str, int]:
    """How far columns of a stream may lie behind its watermark, in microseconds.

    Columns for which this is not known are left out.
    """
    found = {}
    for field in frame.schema.fields:
        if DELAY in field.metadata:
            found[field.name] = 0
        elif _LAG in field.metadata and _has_watermark(frame):
            found[field.name] = int(field.metadata[_LAG])
    return found


def event_time(results: DataFrame, time: Time | None) -> EventTime:
    """Find the time by which rows are put into windows."""
    columns = _columns(results, time)
    fields = results.select(*columns).schema.fields
    for field in fields:
        if not isinstance(field.dataType, TimestampType | TimestampNTZType):
            raise ColumnTypeError(
                f"the time {field.name!r} is of type {field.dataType.simpleString()}.",
                fix=f'pass a timestamp, e.g. time=col("{field.name}")'
                '.cast("timestamp").',
            )
    latest = columns[0] if len(columns) == 1 else F.greatest(*columns)
    if not results.isStreaming:
        return EventTime(latest, 0)
    lag_us = lag_of_latest(fields)
    if lag_us is None or not _has_watermark(results):
        raise _no_watermark(fields)
    shifted = latest if lag_us == 0 else latest + F.lit(timedelta(microseconds=lag_us))
    return EventTime(shifted, lag_us)


def marked(time: EventTime, name: str, *, streaming: bool, delay_ms: int = 0) -> Column:
    """The time under a new name; in a stream, as the column of the watermark.

    Spark has subtracted the delay already, where the watermark was defined. So for
    windows and joins, the delay is 0 here.
    """
    if not streaming:
        return time.column.alias(name)
    return time.column.alias(name, metadata={DELAY: delay_ms})


def _columns(results: DataFrame, time: Time | None) -> list[Column]:
    sources: Sequence[str | Column]
    if time is None:
        fields = results.schema.fields
        sources = [f.name for f in fields if DELAY in f.metadata]
        sources = sources or [f.name for f in fields if _OF in f.metadata]
    else:
        sources = [time] if isinstance(time, str | Column) else time
    if not sources:
        raise ColumnError(
            f"time={time!r}, and no column of the results is known as an event time.",
            fix='name it: time="clicked_at", or time=("shown_at", "clicked_at") for '
            "the later of two.",
        )
    return [quoted(results, source) for source in sources]


def lag_of_latest(fields: Sequence[StructField]) -> int | None:
    """How far the latest of these times may lie behind the watermark."""
    noted = [field.metadata for field in fields if _OF in field.metadata]
    if noted and len({n for one in noted for n in one[_OF]}) == noted[0][_STREAMS]:
        latest_lag: int = noted[0][_LATEST_LAG]  # if all streams' times are given
        return latest_lag
    lags = [0 for field in fields if DELAY in field.metadata]
    lags += [field.metadata[_LAG] for field in fields if _LAG in field.metadata]
    return min(lags, default=None)


def check_name(frames: Sequence[DataFrame], name: str) -> None:
    """Refuse the name of an earlier join whose results this join uses."""
    for frame in frames:
        if is_joined(frame) and f"CollectMetrics {name}," in _plan_of(frame):
            raise ParameterError(
                f"name={name!r} is also the name of the join that a stream comes from.",
                fix='pass another one, e.g. name="second": counts are reported by it.',
            )


def _plan_of(frame: DataFrame) -> str:
    """The analyzed plan as text."""
    plan: str
    if hasattr(frame, "_jdf"):  # classic
        plan = frame._jdf.queryExecution().analyzed().toString()  # noqa: SLF001
    else:  # Connect
        plan = getattr(frame, "_explain_string")(extended=True)  # noqa: B009
    return plan


def _has_watermark(results: DataFrame) -> bool:
    """Whether a stream has a watermark, according to its plan.

    The metadata of columns is not enough, because files keep metadata. If archived
    results are read as a stream, they must not be taken for results of a running join.
    """
    return "EventTimeWatermark" in _plan_of(results)


def _no_watermark(fields: Sequence[StructField]) -> ColumnError:
    names = ", ".join(repr(field.name) for field in fields)
    return ColumnError(
        f"the stream has no watermark on {names}, so no window would ever be complete.",
        fix="name the time columns of shedjoin.join as they came, or none of them; on "
        f'other streams call withWatermark("{fields[0].name}", "10 minutes") first.',
    )
