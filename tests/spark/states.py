"""State of a join as a checkpoint holds it, as bytes and decoded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from shedjoin.kernels.slots import FACTS
from shedjoin.state.directory import split_token

DIRECTORY = -1
Blobs = dict[tuple[int, int], bytes]
"""By shard and number; the directory of a shard has number -1."""


def stored(spark: SparkSession, folder: Path) -> Blobs:
    """All blobs of the last micro-batch, read by Spark's own source of states."""
    reader = spark.read.format("statestore").option("stateVarName", "segments")
    rows = reader.load(str(folder / "checkpoint")).collect()
    return {
        (row.key.shard, row.user_map_key.number): bytes(row.user_map_value.blob)
        for row in rows
    }


def without_tokens(blobs: Blobs) -> dict[tuple[int, int], Any]:
    """The same with directories decoded, and without what is the query's own."""
    return {
        place: decoded(blob) if place[1] == DIRECTORY else blob
        for place, blob in blobs.items()
    }


def decoded(blob: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Facts and rows of an Arrow stream, without token and seed of the buckets."""
    _, arrow = split_token(blob)
    with pa.ipc.open_stream(arrow) as reader:
        said = (reader.schema.metadata or {}).get(b"shedjoin", b"{}")
        rows: list[dict[str, Any]] = reader.read_all().to_pylist()
    facts = json.loads(said)
    own = facts.get("own", {})
    own.pop("seed", None)
    if "facts" in own:
        own["facts"][(FACTS.names or ()).index("bucket_seed")] = 0
    return facts, rows
