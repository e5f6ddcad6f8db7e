"""Record batches as bytes: Arrow's own stream format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

_STORED = pa.ipc.IpcWriteOptions(compression="lz4")
_PLAIN = pa.ipc.IpcWriteOptions()


def encode_rows(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, *, stored: bool = False
) -> pa.Buffer:
    """Encode record batches as an Arrow stream, which is compressed if ``stored``."""
    sink = pa.BufferOutputStream()
    options = _STORED if stored else _PLAIN
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


def write_rows(file: pa.NativeFile, rows: pa.RecordBatch) -> None:
    """Write one record batch to a file as an Arrow stream."""
    with pa.ipc.new_stream(file, rows.schema, options=_PLAIN) as writer:
        writer.write_batch(rows)


def decode_rows(blob: bytes | pa.Buffer) -> Iterator[pa.RecordBatch]:
    """Read the record batches of an Arrow stream; they share the memory of the blob."""
    with pa.ipc.open_stream(blob) as reader:
        yield from reader


def decode_batch(blob: bytes | pa.Buffer) -> pa.RecordBatch:
    """Read the only record batch of an Arrow stream."""
    return next(decode_rows(blob))
