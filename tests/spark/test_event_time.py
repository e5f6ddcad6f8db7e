"""What a join notes on the times of its results. Without a JVM."""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import StructField, TimestampType

from shedjoin.spark.event_time import lag_of_latest, time_columns, time_metadata
from shedjoin.spec.keys import output_columns
from shedjoin.spec.streams import JoinSpec, StreamSpec

MINUTE = 60_000_000


def spec_of(keys: tuple[str, ...], times: tuple[str, str], lag_us: int = 0) -> JoinSpec:
    columns = [["id", "ts", "u"], ["id", "ts", "w"]]
    streams = tuple(
        StreamSpec(
            *(name, tuple((column, "x") for column in own), keys),
            time=time,
            keep_us=keep_us,
            lag_us=lag_us,
        )
        for name, own, time, keep_us in zip(
            ("left", "right"), columns, times, (5 * MINUTE, 2 * MINUTE), strict=True
        )
    )
    output = output_columns(columns, [keys, keys], ("_left", "_right"))
    return JoinSpec(streams=streams, shards=1, direct=False, output=output)


def noted(spec: JoinSpec) -> dict[str, dict[str, Any]]:
    found = {column.name: time_metadata(column, spec) for column in spec.output}
    return {name: one for name, one in found.items() if one is not None}


def fields(spec: JoinSpec, *names: str) -> list[StructField]:
    metadata = noted(spec)
    return [StructField(n, TimestampType(), metadata=metadata[n]) for n in names]


def test_each_time_lags_by_what_its_stream_waits() -> None:
    spec = spec_of(("id",), ("u", "w"))
    assert time_columns(spec) == ["u", "w"]
    assert lag_of_latest(fields(spec, "u")) == 5 * MINUTE
    assert lag_of_latest(fields(spec, "w")) == 2 * MINUTE
    assert lag_of_latest(fields(spec, "u", "w")) == 0


def test_the_latest_of_a_further_join_lags_as_its_input_does() -> None:
    spec = spec_of(("id",), ("u", "w"), lag_us=MINUTE)
    assert lag_of_latest(fields(spec, "u")) == 6 * MINUTE
    assert lag_of_latest(fields(spec, "u", "w")) == MINUTE


def test_a_time_that_is_a_key_is_the_time_of_its_stream() -> None:
    spec = spec_of(("id", "ts"), ("u", "ts"))
    assert time_columns(spec) == ["u", "ts"]
    assert lag_of_latest(fields(spec, "ts")) == 2 * MINUTE
    assert lag_of_latest(fields(spec, "u", "ts")) == 0
    both = spec_of(("id", "ts"), ("ts", "ts"))
    assert time_columns(both) == ["ts", "ts"]
    assert lag_of_latest(fields(both, "ts")) == 0
