"""The join of several DataFrames."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from shedjoin.control.folder import Control
from shedjoin.spark.columns import Arguments, make_spec
from shedjoin.spark.importance import stream_importances
from shedjoin.spark.join import check_frames, planned, shard_count
from shedjoin.spec.cells import Cells
from shedjoin.spec.conditions import OnStreams, split_on
from shedjoin.spec.multijoin import (
    WithinEach,
    by_name,
    check_streams,
    stream_keeps_us,
)
from shedjoin.spec.shedding import Shedding


def multijoin(  # noqa: PLR0913  (one mapping; all else by keyword)
    streams: Mapping[str, DataFrame],
    *,
    on: OnStreams,
    within: WithinEach,
    shedding: Shedding | None,
    importance: object,
    time: Mapping[str, str] | None,
    shards: int | None,
    name: str,
    event_time: str | None,
    control: Control | None,
    cells: Cells | None,
) -> DataFrame:
    """Join several DataFrames; see :func:`shedjoin.multijoin`."""
    names = check_streams(streams)
    conditions = split_on(on)
    check_frames(streams)
    frames = list(streams.values())
    arguments = Arguments(
        names=names,
        keys=conditions.stream_keys(names),
        keeps_us=stream_keeps_us(within, names),
        time=None if time is None else by_name("time", time, names),
        shards=shard_count(frames[0], shards, conditions),
        suffixes=[f"_{stream}" for stream in names],
        predicates=conditions.predicates,
        cells=cells,
    )
    spec = make_spec(frames, arguments).with_shedding(shedding)
    worth = stream_importances(importance, streams)
    return planned(frames, spec, name, worth, event_time, control)
