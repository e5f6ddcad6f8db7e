"""Joins of DataFrames: builds the stages of a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from inspect import signature
from operator import add, and_
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from shedjoin.columns.schema import plain_type
from shedjoin.control.folder import Control
from shedjoin.errors import ParameterError
from shedjoin.policies.goals import values_of
from shedjoin.request.spec import Asked, join_spec
from shedjoin.spark.columns import relation_of, stream_of
from shedjoin.spark.control import keep_records, message_rows, tell_what_stands
from shedjoin.spark.disk import CopySettings
from shedjoin.spark.event_time import (
    check_name,
    longest_delay_ms,
    time_metadata,
    with_event_time,
)
from shedjoin.spark.importance import stream_importances
from shedjoin.spark.interpreter import check_workers
from shedjoin.spark.listening import FOLDER
from shedjoin.spark.operator import JoinProcessor
from shedjoin.spark.recall import recall_columns
from shedjoin.spark.relation import SentRelation, related
from shedjoin.spark.shards import shard_numbers
from shedjoin.spark.throttle import keep_time
from shedjoin.spark.wire import (
    JOINED,
    PACKED,
    STEERED,
    Filler,
    Packer,
    Packing,
    unpack_rows,
)
from shedjoin.spec.capabilities.kinds import Feature
from shedjoin.spec.capabilities.table import check_combination
from shedjoin.spec.conditions import Conditions
from shedjoin.spec.report import combine, count_types
from shedjoin.spec.streams import (
    CLUSTER_COLUMN,
    HASH_COLUMN,
    IMPORTANCE_COLUMN,
    WEIGHT_COLUMN,
    JoinSpec,
)
from shedjoin.spec.terms import columns_of

Unpacker: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""Function of the last stage, which turns blobs back into rows."""


def join(
    frames: Mapping[str, DataFrame],
    asked: Asked,
    name: str,
    event_time: str | None,
    control: Control | None,
) -> DataFrame:
    """Join DataFrames, or two of them through a relation."""
    streams = [stream_of(frame, own) for own, frame in frames.items()]
    table = None if asked.through is None else asked.through.rows
    relation = None if asked.through is None else relation_of(table, streams[0])
    each = list(frames.values())
    count = shard_count(each[0], asked.options.shards, asked.conditions)
    spec = join_spec(streams, asked, count, relation)
    worth = stream_importances(values_of(asked.keep), frames)
    return planned(each, spec, name, worth, event_time, control, table)


def shard_count(frame: DataFrame, shards: int | None, conditions: Conditions) -> int:
    """Number of shards; by default the number of shuffle partitions."""
    partitions = int(str(frame.sparkSession.conf.get("spark.sql.shuffle.partitions")))
    if shards is None and conditions.copies:
        raise ParameterError(
            f"{conditions.predicates[0]!r} alone does not say which rows can meet: all "
            "streams but the first are copied to every shard.",
            fix="pass options=shedjoin.Options(shards=...), about the number of "
            "cores of the executors; or add a "
            "key column or a Band to on=.",
        )
    return shards or partitions


def planned(
    frames: Sequence[DataFrame],
    spec: JoinSpec,
    name: str,
    worth: Sequence[Column | None],
    event_time: str | None,
    control: Control | None = None,
    relation: DataFrame | None = None,
) -> DataFrame:
    """Put the stages of a join together: pack, shuffle, join, unpack."""
    numbers = shard_numbers(spec.shards)
    session = frames[0].sparkSession
    streaming = frames[0].isStreaming
    _check_engine(spec, event_time, control, streaming=streaming)
    _prepare(frames[0], streaming=streaming)
    check_name(frames, name)
    spec = replace(spec, lateness_us=1000 * longest_delay_ms(frames))
    steered = control is not None
    packed, fixed = _packed(
        frames, spec, name, numbers, worth, relation, steered=steered
    )
    if spec.shedding is not None and spec.shedding.budget.cpu is not None:
        budget, looks = spec.shedding.budget, bool(spec.terms)
        keep_time(session, control, name, budget, looks=looks)
    if control is not None:
        tell_what_stands(control, name)
        packed.append(message_rows(session, control, numbers))
    settings = CopySettings.of(session.conf)
    own = {"durable": streaming, "steered": steered}
    processor = JoinProcessor(spec, numbers, name, settings, relation=fixed, **own)
    joined = (
        _unshared(reduce(DataFrame.union, packed))
        .groupBy("shard")
        .transformWithStateInPandas(
            processor,
            STEERED if steered else JOINED,
            "append",
            "EventTime" if streaming else "None",
        )
    )
    if streaming:
        joined = _observed(joined, name, spec, control)
    told = [*frames] if relation is None else [*frames, relation]
    schema = _schema(told, spec)
    results = joined.mapInArrow(_unpacker(schema, spec), schema)
    if event_time is None:
        return results
    return with_event_time(results, spec, event_time, spec.lateness_us // 1000)


def _unpacker(schema: StructType, spec: JoinSpec) -> Unpacker:
    """Function of the last stage; rows without a partner need the types of columns."""
    if spec.how == "inner":
        return unpack_rows
    # Since Spark 4.3, the zone of timestamps is an argument without a default.
    zoned = "timezone" in signature(to_arrow_schema).parameters
    arguments: dict[str, Any] = {"timezone": "UTC"} if zoned else {}
    known = to_arrow_schema(schema, **arguments)
    # Parts of pairs are all nullable, and a task must emit one schema.
    return Filler(pa.schema([(field.name, plain_type(field.type)) for field in known]))


def _check_engine(
    spec: JoinSpec,
    event_time: str | None,
    control: Control | None,
    *,
    streaming: bool,
) -> None:
    """Refuse ``control``, ``event_time`` and CPU budgets where they are not supported.

    Some kinds of joins do not support them, and joins of batch DataFrames do not.
    """
    budget = None if spec.shedding is None else spec.shedding.budget
    if not isinstance(control, Control | None):
        raise ParameterError(
            f"control={control!r} is not a folder of messages.",
            fix=f"write control=shedjoin.Control({str(control)!r}), a folder that the "
            "driver and all executors can read.",
        )
    asked = []
    if event_time is not None:
        asked.append((Feature.EVENT_TIME, f"event_time={event_time!r}"))
    if control is not None:
        asked.append((Feature.CONTROL, f"control={control!r}"))
    if control is not None and not streaming:
        asked.append((Feature.CONTROL_OF_TABLES, f"control={control!r}"))
    if budget is not None and budget.cpu is not None and not streaming:
        asked.append((Feature.TIME_OF_TABLES, repr(budget)))
    check_combination(spec.join_kind, asked)


def _prepare(frame: DataFrame, *, streaming: bool) -> None:
    """Make sure that workers can run the join, and that Spark can hold its state."""
    check_workers(frame.sparkSession)
    if streaming:
        _require_rocksdb(frame)
    else:
        _meet_the_coordinator(frame)


def _packed(
    frames: Sequence[DataFrame],
    spec: JoinSpec,
    name: str,
    numbers: list[int],
    worth: Sequence[Column | None],
    relation: DataFrame | None,
    *,
    steered: bool,
) -> tuple[list[DataFrame], SentRelation | None]:
    """Packed rows of all streams, then the packed changes of the relation.

    Spark asks the sources for their offsets in this order, so the relation is at least
    as recent as the rows. A relation that does not change is not packed, but sent
    whole. It is the second value.
    """
    packed, streaming = [], frames[0].isStreaming
    changes, fixed = related(relation, spec, numbers)
    for stream, frame in enumerate(frames):
        packing = Packing(
            *(name, numbers, streaming, worth[stream] is not None), steered=steered
        )
        usable = _usable(frame, spec, stream, worth[stream])
        packed.append(usable.mapInArrow(Packer(spec, stream, packing, fixed), PACKED))
    return [*packed, *changes], fixed


def _observed(
    joined: DataFrame, name: str, spec: JoinSpec, control: Control | None
) -> DataFrame:
    """Put counts, and the record of control messages, into the query's progress."""
    totals = _totals(spec.names)
    if control is None:
        return joined.observe(name, *totals)
    keep_records(joined.sparkSession, control, name)
    folder = F.max(F.lit(str(control.path))).alias(FOLDER)
    told = joined.observe(name, *totals, F.max("record").alias("control"), folder)
    return told.drop("record")


def _unshared(packed: DataFrame) -> DataFrame:
    """Keep Spark from giving two operators the same shuffled rows.

    If a result is used twice in a query, Spark makes two operators of the join, but
    shuffles rows for only one of them. The other operator gets no watermark, because
    Spark looks for the watermark below the shuffle. Late rows would then be joined, and
    no row would expire. The condition that is added here is always true. Spark gives
    each occurrence of it in a micro-batch a new seed, so no two shuffles are equal.
    """
    return packed.where(F.rand() + 1 > 0)  # Spark drops a plain "rand() >= 0"


def _require_rocksdb(frame: DataFrame) -> None:
    """Refuse other state stores than RocksDB, which Spark would refuse later."""
    setting = "spark.sql.streaming.stateStore.providerClass"
    provider = str(frame.sparkSession.conf.get(setting))
    if "RocksDB" not in provider:
        raise ParameterError(
            f"the state store is {provider.rsplit('.', 1)[-1]}; Spark's "
            "transformWithState, which carries the join, needs RocksDB.",
            fix=f'spark.conf.set("{setting}", "org.apache.spark.sql.execution.'
            'streaming.state.RocksDBStateStoreProvider").',
        )


def _meet_the_coordinator(frame: DataFrame) -> None:
    """Make the session start its coordinator of state stores.

    Tasks of a batch query report to the coordinator as well, and fail without it. Spark
    before 4.3 starts it only when the streams of the session are first accessed.
    """
    _ = frame.sparkSession.streams.active


def _usable(
    frame: DataFrame, spec: JoinSpec, stream: int, importance: Column | None
) -> DataFrame:
    """Rows that have a time, and a key, without which nothing matches.

    Rows of a preserved stream may do without a key: they are emitted without a partner.

    Spark itself evaluates the filter, and moves it below the watermark as in its own
    join. So a row without a key does not move the watermark.
    """
    own = spec.streams[stream]
    # Columns are named by position: mapInArrow cannot handle dots or backticks.
    places = {name: f"c{place}" for place, (name, _) in enumerate(own.columns)}
    keys = [F.col(places[name]) for name in own.keys]
    named = (*columns_of(spec.terms, stream), own.time)
    columns = [F.col(places[name]) for name in named]
    if not spec.preserves[stream]:
        columns += keys
    names = list(places.values())
    if importance is not None:
        frame = frame.withColumn(IMPORTANCE_COLUMN, importance.cast("double"))
        names.append(IMPORTANCE_COLUMN)
    frame = frame.toDF(*names)
    frame = frame.where(reduce(and_, (column.isNotNull() for column in columns)))
    if spec.direct:
        return frame
    return frame.withColumn(HASH_COLUMN, F.xxhash64(*keys))


def _totals(streams: Sequence[str]) -> list[Column]:
    """Counts over all shards, and the greatest counts of a single shard."""
    functions = {"sum": F.sum, "max": F.max}
    kinds = count_types(streams)
    count = {name: F.col("counts")[place] for place, name in enumerate(kinds)}

    def total(found: Column, name: str, kind: type = int) -> Column:
        whole = F.coalesce(found, F.lit(0.0))
        return (whole if kind is float else whole.cast("long")).alias(name)

    residents = reduce(add, (count[f"resident_{stream}"] for stream in streams))
    totals = {
        name: total(functions[combine(name)](count[name]), name, kind)
        for name, kind in kinds.items()
    }
    return [
        *totals.values(),
        *recall_columns(totals),
        total(F.max(residents), "max_resident"),
        total(F.max(count["matched"]), "max_matched"),
        total(F.max(count["state_bytes"]), "max_state_bytes"),
        total(F.min(count["watermark_ms"]), "min_watermark_ms"),
    ]


def _schema(frames: Sequence[DataFrame], spec: JoinSpec) -> StructType:
    """Columns of the result, without the watermark metadata of the inputs.

    A result may be older than the watermark, since its older rows waited in the window.
    A later operator that drops late rows by these columns would lose results. The
    metadata of each time column says how far it may lag.
    """
    tags = StructType().add(WEIGHT_COLUMN, "double").add(CLUSTER_COLUMN, "long")
    schemas = [frame.schema for frame in frames]
    origins = [tags if c.stream is None else schemas[c.stream] for c in spec.output]
    return StructType(
        [
            StructField(
                column.name,
                origin[column.source].dataType,
                metadata=time_metadata(column, spec),
            )
            for column, origin in zip(spec.output, origins, strict=True)
        ]
    )
