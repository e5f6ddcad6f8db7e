"""Rows and the directory of a shard as bytes: Arrow IPC, never pickle.

Format 2. A *segment* is an Arrow stream with one record batch, LZ4 inside. The
*directory* is an Arrow stream whose rows are the segments and whose schema metadata
carries the format number, the fingerprint of the join, the shard's few scalars and the
token of the state. Format 1 had no seed of the buckets; it is read as seed 0.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import pyarrow as pa

from shedjoin.columns.ipc import decode_rows, encode_rows
from shedjoin.errors import StateMismatchError
from shedjoin.state.segments import Segment

FORMAT = 2
_META = b"shedjoin"
_DIRECTORY = pa.schema([(name, pa.int64()) for name in Segment._fields])


class Directory(NamedTuple):
    """All of a shard's state but its rows."""

    segments: tuple[Segment, ...]
    next_slot: tuple[int, int]
    next_id: int
    watermark_ms: int
    token: str
    seed: int = 0


def decode_segment(blob: bytes | pa.Buffer) -> pa.RecordBatch:
    """Read the one record batch of a segment."""
    return next(decode_rows(blob))


def encode_directory(directory: Directory, fingerprint: str) -> bytes:
    """Bytes of a directory, the same for the same content."""
    facts = {"format": FORMAT, "fingerprint": fingerprint} | directory._asdict()
    del facts["segments"]
    text = json.dumps(facts, sort_keys=True).encode()
    schema = _DIRECTORY.with_metadata({_META: text})
    columns = zip(*directory.segments, strict=True) if directory.segments else ()
    arrays = [pa.array(column, pa.int64()) for column in columns]
    batches = [pa.record_batch(arrays, schema=schema)] if arrays else []
    blob: bytes = encode_rows(batches, schema).to_pybytes()
    return blob


def decode_directory(blob: bytes, fingerprint: str) -> Directory:
    """Read a directory; refuse a newer format and another join's state."""
    with pa.ipc.open_stream(blob) as reader:
        facts = json.loads(reader.schema.metadata[_META])
        table = reader.read_all()
    check_origin(facts.pop("format"), facts.pop("fingerprint"), fingerprint)
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    facts["next_slot"] = tuple(facts["next_slot"])
    return Directory(segments=tuple(Segment(*row) for row in rows), **facts)


def check_origin(stored_format: int, stored: str, current: str) -> None:
    """Refuse state of a newer format or of another join."""
    if stored_format > FORMAT:
        raise StateMismatchError(
            f"the checkpoint holds state of format {stored_format}; this version of "
            f"shedjoin reads formats up to {FORMAT}.",
            fix="install the shedjoin version that wrote it, or a later one.",
        )
    if stored != current:
        raise StateMismatchError(
            f"the checkpoint was written by another join (fingerprint {stored}, this "
            f"query has {current}): its window, keys, columns, event-time columns or "
            "shard count differ.",
            fix="start with a new checkpointLocation, or restore the old arguments; if "
            "only spark.sql.shuffle.partitions changed, pass shards= the old count.",
        )
