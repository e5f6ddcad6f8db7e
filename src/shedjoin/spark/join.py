"""The join of two DataFrames."""

from __future__ import annotations

from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)
from pyspark.sql.types import StructField, StructType

from shedjoin.errors import ParameterError
from shedjoin.spark.columns import Arguments, make_spec
from shedjoin.spark.disk import CopySettings
from shedjoin.spark.event_time import time_metadata
from shedjoin.spark.importance import importance_columns
from shedjoin.spark.operator import JoinProcessor
from shedjoin.spark.shards import shard_numbers
from shedjoin.spark.wire import JOINED, PACKED, Packer, Packing, unpack_rows
from shedjoin.spec.keys import On
from shedjoin.spec.report import REPORT_FIELDS, Report
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import (
    CLUSTER_COLUMN,
    HASH_COLUMN,
    IMPORTANCE_COLUMN,
    WEIGHT_COLUMN,
    JoinSpec,
)
from shedjoin.spec.window import Within
from shedjoin.types import SIDES, Side


def join(  # noqa: PLR0913  (documented in shedjoin.api)
    left: DataFrame,
    right: DataFrame,
    *,
    on: On,
    within: Within,
    shedding: Shedding | None,
    importance: object,
    time: tuple[str, str] | None,
    shards: int | None,
    suffixes: tuple[str, str],
    name: str,
) -> DataFrame:
    """Join two DataFrames; see :func:`shedjoin.join`."""
    partitions = int(str(left.sparkSession.conf.get("spark.sql.shuffle.partitions")))
    if shards is not None and (type(shards) is not int or shards < 1):
        raise ParameterError(
            f"shards={shards!r} is not a count.",
            fix=f"leave it out to take spark.sql.shuffle.partitions ({partitions}).",
        )
    arguments = Arguments(on, within, time, shards or partitions, suffixes)
    spec = make_spec((left, right), arguments).with_shedding(shedding)
    worth = importance_columns(importance, (left, right))
    numbers = shard_numbers(spec.shards)
    streaming = left.isStreaming
    if streaming:
        _require_rocksdb(left)
    else:
        _meet_the_coordinator(left)
    packed = [
        _usable(frame, spec, side, worth[side]).mapInArrow(
            Packer(
                spec, side, Packing(name, numbers, streaming, worth[side] is not None)
            ),
            PACKED,
        )
        for side, frame in zip(SIDES, (left, right), strict=True)
    ]
    settings = CopySettings.of(left.sparkSession.conf)
    joined = (
        _unshared(packed[0].union(packed[1]))
        .groupBy("shard")
        .transformWithStateInPandas(
            JoinProcessor(spec, numbers, name, settings, durable=streaming),
            JOINED,
            "append",
            "EventTime" if streaming else "None",
        )
    )
    if streaming:
        joined = joined.observe(name, *_totals())
    return joined.mapInArrow(unpack_rows, _schema((left, right), spec))


def _unshared(packed: DataFrame) -> DataFrame:
    """Keep Spark from giving two operators the same shuffled rows.

    Where a result is used twice in a query, Spark makes two operators of the join and
    shuffles for one of them only. The other is then told no watermark, for Spark looks
    for it below the shuffle: late rows would be joined and nothing would expire. The
    condition holds always; Spark seeds it anew for each of its occurrences in a
    micro-batch, so that no two shuffles look alike.
    """
    return packed.where(F.rand() + 1 > 0)  # Spark drops a plain "rand() >= 0"


def _require_rocksdb(frame: DataFrame) -> None:
    """Refuse before the query starts what Spark would refuse after."""
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
    """Have the session start its coordinator of state stores.

    Also in a batch query tasks report to it. Spark before 4.3 starts it with the
    session's first look at streams, and without that look the query fails.
    """
    _ = frame.sparkSession.streams.active


def _usable(
    frame: DataFrame, spec: JoinSpec, side: Side, importance: Column | None
) -> DataFrame:
    """Rows that can match: with a key and a time, as Spark's own inner join filters.

    Done by Spark, which puts the filter on keys below the watermark as it does in its
    own join: a row without a key does not move the watermark.
    """
    own = spec.sides[side]
    # By place: mapInArrow cannot refer to names with dots or backticks.
    places = {name: f"c{place}" for place, (name, _) in enumerate(own.columns)}
    columns = [F.col(places[name]) for name in (*own.keys, own.time)]
    names = list(places.values())
    if importance is not None:
        frame = frame.withColumn(IMPORTANCE_COLUMN, importance.cast("double"))
        names.append(IMPORTANCE_COLUMN)
    frame = frame.toDF(*names)
    frame = frame.where(reduce(and_, (column.isNotNull() for column in columns)))
    if spec.direct:
        return frame
    return frame.withColumn(HASH_COLUMN, F.xxhash64(*columns[:-1]))


def _totals() -> list[Column]:
    """Counts over all shards; and of the shard that stands out, if one does."""
    combine = {"sum": F.sum, "max": F.max}
    totals = [
        F.coalesce(combine[Report.combine(name)](name), F.lit(0)).alias(name)
        for name in REPORT_FIELDS
    ]
    residents = F.col("resident_left") + F.col("resident_right")
    return [
        *totals,
        F.coalesce(F.max(residents), F.lit(0)).alias("max_resident"),
        F.coalesce(F.max("matched"), F.lit(0)).alias("max_matched"),
        F.coalesce(F.max("state_bytes"), F.lit(0)).alias("max_state_bytes"),
        F.coalesce(F.min("watermark_ms"), F.lit(0)).alias("min_watermark_ms"),
    ]


def _schema(frames: tuple[DataFrame, DataFrame], spec: JoinSpec) -> StructType:
    """Columns of the result, without the watermark that the inputs carry.

    A pair may be older than the watermark (its older row waited in the window), so a
    later operator that dropped late rows by these columns would lose pairs. How far
    each time column may lag is noted on it.
    """
    said = StructType().add(WEIGHT_COLUMN, "double").add(CLUSTER_COLUMN, "long")
    origin = (frames[0].schema, frames[1].schema, said)
    return StructType(
        [
            StructField(
                column.name,
                origin[column.side][column.source].dataType,
                metadata=time_metadata(column, spec),
            )
            for column in spec.output
        ]
    )
