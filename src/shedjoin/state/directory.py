"""The directory of a shard: all of its state but the rows, as bytes.

The directory is an Arrow stream whose rows are the segments. Its schema metadata holds
the rest as JSON: the format number, the fingerprint of the join, what all joins share,
and a part that only the operator reads. Pickle is not used.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa

from shedjoin.columns.ipc import encode_rows
from shedjoin.errors import StateMismatchError
from shedjoin.spec.identity import Identity, differences
from shedjoin.state.segments import Segment

FORMAT = 6
_OLDEST = 4
"""Oldest format that can be read. It has no record of control messages. Models stored
in formats up to 5 are dropped, because they counted keys differently."""
TOKEN_BYTES = 64
_ARROW_STREAM = b"\xff" * 4
_META = b"shedjoin"
_SEGMENTS = pa.schema([(name, pa.int64()) for name in Segment._fields])


class Directory(NamedTuple):
    """All of a shard's state but its rows.

    ``kind`` names the operator that wrote it. Only this operator reads ``own``.
    ``control`` is the record of control messages, which is empty if there were none.
    ``token`` identifies the state. It is a hash over the token of the state before, and
    over all that the commit wrote or removed, including the bytes of the directory. So
    the token is stored in front of these bytes, not in them.
    """

    segments: tuple[Segment, ...]
    next_id: int
    watermark_ms: int
    kind: str
    own: dict[str, Any]
    token: str = ""
    control: dict[str, Any] = {}  # noqa: RUF012  (read only)


def encode_directory(directory: Directory, fingerprint: str) -> bytes:
    """Bytes of a directory without its token; equal content gives equal bytes."""
    facts = {"format": FORMAT, "fingerprint": fingerprint} | directory._asdict()
    del facts["segments"], facts["token"]
    text = json.dumps(facts, sort_keys=True).encode()
    schema = _SEGMENTS.with_metadata({_META: text})
    columns = zip(*directory.segments, strict=True) if directory.segments else ()
    arrays = [pa.array(column, pa.int64()) for column in columns]
    batches = [pa.record_batch(arrays, schema=schema)] if arrays else []
    blob: bytes = encode_rows(batches, schema).to_pybytes()
    return blob


def decode_directory(
    blob: bytes, join: Identity, stored: Callable[[], bytes | None]
) -> Directory:
    """Read a directory; raise if its format is unknown, or another join wrote it.

    ``stored`` returns the facts of the join that wrote it, or None if there are none.
    """
    token, blob = split_token(blob)
    with pa.ipc.open_stream(blob) as reader:
        facts = json.loads(reader.schema.metadata[_META])
        table = reader.read_all()
    _check_format(facts.pop("format"))
    if facts.pop("fingerprint") != join.digest:
        raise _another_join(stored(), join)
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    segments = tuple(Segment(*row) for row in rows)
    return Directory(segments=segments, token=token, **facts)


def with_token(token: str, blob: bytes) -> bytes:
    """Bytes of a directory as they are stored."""
    return token.encode() + blob


def split_token(blob: bytes) -> tuple[str, bytes]:
    """Split stored bytes into token and directory.

    Before format 3, the token was inside the directory. For these formats, the token is
    returned as an empty string.
    """
    if blob[:4] == _ARROW_STREAM:
        return "", blob
    return blob[:TOKEN_BYTES].decode(), blob[TOKEN_BYTES:]


def _check_format(stored: int) -> None:
    if stored > FORMAT:
        raise StateMismatchError(
            f"the checkpoint holds state of format {stored}; this version of shedjoin "
            f"reads format {FORMAT}.",
            fix="install the shedjoin version that wrote it, or a later one.",
        )
    if stored < _OLDEST:
        raise StateMismatchError(
            f"the checkpoint holds state of format {stored}, from an earlier alpha; "
            f"this version of shedjoin reads format {FORMAT}.",
            fix="go on with the version that wrote it, or start with a new "
            "checkpointLocation.",
        )


def _another_join(stored: bytes | None, current: Identity) -> StateMismatchError:
    found = "its window, keys, columns, event times or number of shards differ"
    if stored is not None:  # states before format 6 have none
        found = "; ".join(differences(stored.decode(), current.facts))
    more = ""
    if "shards" in found:
        more = (
            " The number of shards follows spark.sql.shuffle.partitions unless "
            "options=shedjoin.Options(shards=...) says it."
        )
    return StateMismatchError(
        f"the checkpoint was written by another join: {found}.",
        fix=f"restore the old arguments, or start with a new checkpointLocation.{more}",
    )
