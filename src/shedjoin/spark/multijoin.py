"""The join of several DataFrames."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from shedjoin.spark.columns import Arguments, make_spec
from shedjoin.spark.join import check_frames, planned, shard_count
from shedjoin.spec.conditions import OnStreams, refuse_predicates
from shedjoin.spec.multijoin import (
    WithinEach,
    by_name,
    check_streams,
    stream_keeps_us,
    stream_keys,
)


def multijoin(
    streams: Mapping[str, DataFrame],
    *,
    on: OnStreams,
    within: WithinEach,
    time: Mapping[str, str] | None,
    shards: int | None,
    name: str,
    event_time: str | None,
) -> DataFrame:
    """Join several DataFrames; see :func:`shedjoin.multijoin`."""
    refuse_predicates(on)
    names = check_streams(streams)
    check_frames(streams)
    frames = list(streams.values())
    arguments = Arguments(
        names=names,
        keys=stream_keys(on, names),
        keeps_us=stream_keeps_us(within, names),
        time=None if time is None else by_name("time", time, names),
        shards=shard_count(frames[0], shards),
        suffixes=[f"_{stream}" for stream in names],
    )
    spec = make_spec(frames, arguments)
    return planned(frames, spec, name, [None] * len(frames), event_time)
