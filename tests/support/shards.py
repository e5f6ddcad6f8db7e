"""One shard driven by plain rows, beside a list-keeping oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from oracle.join import Row, is_dead, is_late, new_pairs
from shedjoin.columns.arrivals import Blob, digest
from shedjoin.columns.ipc import encode_rows
from shedjoin.local.shard import MemoryBlobs
from shedjoin.operators.exact.join import ExactJoin
from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.join import Opening, Outcome, commit, stored_directory
from shedjoin.spec.keys import OutputColumn
from shedjoin.spec.streams import HASH_COLUMN, JoinSpec, StreamSpec
from shedjoin.state.blobs import DIRECTORY
from shedjoin.state.directory import Directory
from shedjoin.state.workspace import MappedWorkspace, MemoryWorkspace, Workspace
from support.sides import LEFT, RIGHT, SIDES

TIME = pa.timestamp("us", "UTC")
SCHEMA = pa.schema([("key", pa.int64()), ("time", TIME), ("id", pa.int64())])

Pairs = Counter[tuple[int, int]]
Batch = tuple[Sequence["Arrival"], Sequence["Arrival"]]


class Arrival(NamedTuple):
    """A row of either side."""

    key: int
    time_us: int
    id: int


def make_spec(
    before_us: int, after_us: int, *, shards: int = 1, direct: bool = True
) -> JoinSpec:
    """Return a join of (key, time, id) with itself that gives pairs of ids."""
    columns = tuple((field.name, str(field.type)) for field in SCHEMA)
    streams = tuple(
        StreamSpec(name, columns, ("key",), "time", keep_us)
        for name, keep_us in (("left", after_us), ("right", before_us))
    )
    output = (OutputColumn(LEFT, "id", "left"), OutputColumn(RIGHT, "id", "right"))
    return JoinSpec(streams, shards, direct, output)


def batch_of(rows: Sequence[Arrival], *, direct: bool = True) -> pa.RecordBatch:
    """Return rows as columns; keys that do not fit get hashes that collide."""
    arrays = [
        pa.array([row.key for row in rows], pa.int64()),
        pa.array([row.time_us for row in rows], pa.int64()).cast(TIME),
        pa.array([row.id for row in rows], pa.int64()),
    ]
    batch = pa.record_batch(arrays, schema=SCHEMA)
    if direct:
        return batch
    hashes = pa.array([row.key % 2 for row in rows], pa.int64())
    return batch.append_column(HASH_COLUMN, hashes)


def blob_of(side: int, rows: Sequence[Arrival], *, direct: bool = True) -> Blob:
    """Return rows as they travel."""
    batch = batch_of(rows, direct=direct)
    payload = encode_rows([batch], batch.schema)
    return Blob(side, digest(payload), payload)


def pairs_of(outcome: Outcome) -> Pairs:
    """Return the ids of the joined rows, left first."""
    return Counter(
        pair
        for batch in outcome.results
        for pair in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )


class Shard:
    """An exact join with the bytes an engine would keep of it."""

    def __init__(self, spec: JoinSpec, folder: Path | None = None) -> None:
        self.spec = spec
        self.blobs = MemoryBlobs()
        self._folder = folder
        self._made = 0
        self._join = self._open(None, self._workspace())

    @property
    def store(self) -> WindowStore:
        """The residents."""
        return self._join.store

    @property
    def segments(self) -> dict[int, bytes]:
        """The stored rows."""
        return {n: blob for n, blob in self.blobs.items() if n != DIRECTORY}

    @property
    def directory(self) -> bytes:
        """The stored directory."""
        return self.blobs.get(DIRECTORY) or b""

    def run(self, batch: Batch, watermark_ms: int) -> Outcome:
        """Join one micro-batch and store what it changed."""
        blobs = [
            blob_of(side, batch[side], direct=self.spec.direct)
            for side in SIDES
            if batch[side]
        ]
        outcome = Outcome.of(self._join.step(blobs, watermark_ms))
        commit(self._join, self.blobs, "token")
        return outcome

    def restore(self) -> None:
        """Start again from the stored bytes."""
        directory = stored_directory(self.blobs, self.spec)
        self._join = self._open(directory, self._workspace())

    def reopen(self) -> None:
        """Start again from the folder of the workspace."""
        directory = stored_directory(self.blobs, self.spec)
        workspace = MappedWorkspace(self._here())
        self._join = self._open(directory, workspace, opened=True)

    def _open(
        self,
        directory: Directory | None,
        workspace: Workspace,
        *,
        opened: bool = False,
    ) -> ExactJoin:
        opening = Opening(self.spec, 0, self.blobs, directory, workspace)
        return ExactJoin.open(opening._replace(opened=opened))

    def _workspace(self) -> Workspace:
        self._made += 1
        return MappedWorkspace(self._here()) if self._folder else MemoryWorkspace()

    def _here(self) -> Path:
        assert self._folder is not None
        return self._folder / str(self._made)


class Oracle:
    """Keeps rows in lists; tells what a micro-batch must give."""

    def __init__(self, spec: JoinSpec) -> None:
        self._spec = spec
        self._late_ms = 0
        self.kept: tuple[list[Row], list[Row]] = ([], [])

    def run(self, batch: Batch, watermark_ms: int) -> Pairs:
        """Return the pairs of ids, then forget the dead."""
        spec = self._spec
        rows = [[Row((a.key,), a.time_us, a.id) for a in side] for side in batch]
        left, right = ([r for r in s if not is_late(r, self._late_ms)] for s in rows)
        after_us, before_us = spec.keeps_us
        pairs = new_pairs(self.kept, (left, right), before_us, after_us)
        self._late_ms = watermark_ms
        self.kept = (
            self._alive(self.kept[0] + left, after_us),
            self._alive(self.kept[1] + right, before_us),
        )
        return Counter((a.payload, b.payload) for a, b in pairs)

    def _alive(self, rows: list[Row], reach_us: int) -> list[Row]:
        return [row for row in rows if not is_dead(row, reach_us, self._late_ms)]


def check(
    shard: Shard,
    stream: Iterable[tuple[Batch, int]],
    after_each: Callable[[int], None] | None = None,
) -> list[bytes]:
    """Run a stream of (micro-batch, watermark) against the oracle.

    Returns the directory after each micro-batch.
    """
    oracle = Oracle(shard.spec)
    directories = []
    for number, (batch, watermark_ms) in enumerate(stream):
        expected = oracle.run(batch, watermark_ms)
        outcome = shard.run(batch, watermark_ms)
        assert pairs_of(outcome) == expected, f"batch {number}"
        report = outcome.report
        residents = (report.resident[0], report.resident[1])
        assert residents == tuple(map(len, oracle.kept)), f"batch {number}"
        directories.append(shard.directory)
        if after_each is not None:
            after_each(number)
    return directories
