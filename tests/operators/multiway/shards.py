"""One shard of a join by predicates, driven by plain rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from shedjoin.columns.arrivals import Blob, digest
from shedjoin.columns.ipc import encode_rows
from shedjoin.local.shard import MemoryBlobs
from shedjoin.operators.choice import open_join
from shedjoin.operators.frame.join import Opening, Outcome, commit, stored_directory
from shedjoin.spec.keys import OutputColumn
from shedjoin.spec.streams import JoinSpec, StreamSpec
from shedjoin.spec.terms import Term
from shedjoin.state.workspace import MappedWorkspace, MemoryWorkspace, Workspace

TIME = pa.timestamp("us", "UTC")
SCHEMA = pa.schema(
    [("key", pa.int64()), ("time", TIME), ("x", pa.float64()), ("id", pa.int64())]
)
SECOND = 1_000_000
Rows = Sequence[tuple[int, int, float, int]]
"""Key, time in microseconds, x and id."""


def spec_of(
    streams: int, terms: tuple[Term, ...], keep_s: int = 10, *, keyed: bool = True
) -> JoinSpec:
    """A join of streams of one schema that gives their ids."""
    columns = tuple((field.name, str(field.type)) for field in SCHEMA)
    keys = ("key",) if keyed else ()
    return JoinSpec(
        streams=tuple(
            StreamSpec("abcde"[n], columns, keys, "time", keep_s * SECOND)
            for n in range(streams)
        ),
        shards=1,
        direct=True,
        output=tuple(OutputColumn(n, "id", f"id_{n}") for n in range(streams)),
        terms=terms,
    )


def blob_of(stream: int, rows: Rows) -> Blob:
    """Rows as they travel."""
    columns = zip(*rows, strict=True) if rows else [[], [], [], []]
    arrays = [
        pa.array(column, pa.int64()).cast(TIME) if field.type == TIME
        else pa.array(column, field.type)
        for column, field in zip(columns, SCHEMA, strict=True)
    ]  # fmt: skip
    batch = pa.record_batch(arrays, schema=SCHEMA)
    payload = encode_rows([batch], batch.schema)
    return Blob(stream, digest(payload), payload)


class Shard:
    """A join with the bytes an engine would keep of it, and perhaps a folder."""

    def __init__(self, spec: JoinSpec, folder: Path | None = None) -> None:
        self.blobs = MemoryBlobs()
        self._spec = spec
        self._folder = folder
        self._made = 0
        self._token = ""
        self.start()

    def start(self, spec: JoinSpec | None = None, *, opened: bool = False) -> None:
        """Start from the stored bytes, or from the folder as it was left."""
        self._spec = spec or self._spec
        directory = stored_directory(self.blobs, self._spec)
        self._made += not opened
        workspace: Workspace = MemoryWorkspace()
        if self._folder:
            workspace = MappedWorkspace(self._folder / str(self._made))
        opening = Opening(self._spec, 0, self.blobs, directory, workspace)
        self.join = open_join(opening._replace(opened=opened))

    def run(self, arrived: Sequence[Blob], watermark_ms: int) -> Outcome:
        """Join one micro-batch and store what it changed."""
        outcome = Outcome.of(self.join.step(arrived, watermark_ms))
        self._token, _ = commit(self.join, self.blobs, self._token)
        return outcome

    @property
    def files(self) -> int:
        """How many files the folder has."""
        assert self._folder is not None
        return len(list((self._folder / str(self._made)).iterdir()))
