"""Joins one stream with a relation. The state of the join is only the relation.

A row of the stream is joined with the relation rows that have come before it or in the
same micro-batch. No row of the stream is kept. So a change of the relation has no
effect on rows that came in earlier micro-batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Blob, Chunk, chunks, pieces_of
from shedjoin.columns.equality import equal_rows
from shedjoin.errors import StateMismatchError
from shedjoin.operators.frame.combine import Met, joined_columns
from shedjoin.operators.frame.join import (
    BEGINNING_MS,
    Opening,
    Residents,
    Residing,
    Running,
    as_step,
)
from shedjoin.operators.frame.reading import numbers_of
from shedjoin.operators.frame.results import room_for
from shedjoin.operators.star.relation import late_changes
from shedjoin.operators.star.relation_store import RelationStore
from shedjoin.spec.relation import ALWAYS_US, RELATION, RelationSpec
from shedjoin.spec.report import Report
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload
from shedjoin.types import BoolArray, IntArray

_STREAM = 0
_NOBODY_US = -ALWAYS_US - 1


class KnownRelation:
    """The relation of one shard, its watermark, and the latest time of a joined row.

    Parameters
    ----------
    spec : RelationSpec
        Columns of the relation.
    relation : RelationStore
        Rows of the relation.
    watermark_ms : int
        Watermark of the last micro-batch.
    latest_us : int
        The latest time of a stream row that was joined.
    """

    def __init__(
        self,
        spec: RelationSpec,
        relation: RelationStore,
        watermark_ms: int,
        latest_us: int,
    ) -> None:
        self.spec = spec
        self.relation = relation
        self.watermark_ms = watermark_ms
        self.latest_us = latest_us

    @property
    def late_ms(self) -> int:
        """Watermark up to which rows are late.

        Late rows are dropped, because relation rows that they need may have been
        removed. A fixed relation is complete, so that no row is late.
        """
        return BEGINNING_MS if self.spec.fixed else self.watermark_ms

    def apply(self, changes: Sequence[pa.RecordBatch]) -> int:
        """Apply changes; count those that came too late for rows that were joined.

        The joined rows are not kept. So each change is compared with the latest time of
        a joined row.
        """
        if not changes:
            return 0
        rows = pa.concat_batches(changes)
        applied = self.relation.apply(rows, table=self.spec.fixed)
        known = self.latest_us, self.latest_us, self.latest_us
        return late_changes(self.relation.rows, applied, *known)


class RelationJoin:
    """Joins rows of a stream with the relation rows of their key.

    Parameters
    ----------
    spec : JoinSpec
        A join of one stream.
    payload : Payload
        Relation rows.
    store : KnownRelation
        Index of the relation rows, and watermark.
    seed : int
        Seed of the buckets of the index.
    """

    kind = "relation"

    def __init__(
        self, spec: JoinSpec, payload: Payload, store: KnownRelation, seed: int
    ) -> None:
        self.spec = spec
        self.payload = payload
        self.store = store
        self._seed = seed

    @classmethod
    def open(cls, opening: Opening) -> RelationJoin:
        """Open the join from stored state, or begin a new one."""
        spec, directory, workspace = opening.spec, opening.directory, opening.workspace
        if spec.relation is None:
            raise TypeError(spec)
        own: dict[str, Any] = {"seed": opening.seed, "latest_us": _NOBODY_US}
        payload, watermark_ms = Payload(workspace), 0
        if directory is not None:
            own, watermark_ms = directory.own, directory.watermark_ms
            payload = Payload(workspace, directory.segments, directory.next_id)
        stored, seed = own.get("relation", {}), own["seed"]
        relation = RelationStore(
            workspace, payload, seed, stored, opened=opening.opened
        )
        if directory is not None and not opening.opened:
            relation.restore(opening.blobs)
        store = KnownRelation(spec.relation, relation, watermark_ms, own["latest_us"])
        return cls(spec, payload, store, seed)

    @classmethod
    def adopt(
        cls, opening: Opening, payload: Payload, residents: Iterable[Residents]
    ) -> RelationJoin:
        """Raise, because another kind of join has another relation, or none."""
        del payload, residents
        kind = "" if opening.directory is None else opening.directory.kind
        raise StateMismatchError(
            f"the checkpoint was written by another kind of join ({kind}).",
            fix="start with a new checkpointLocation.",
        )

    @staticmethod
    def residents(blobs: Blobs, directory: Directory, spec: JoinSpec) -> Residing:
        """Raise, because this kind of join has no residents."""
        del blobs, directory, spec
        raise StateMismatchError(
            "the checkpoint is that of a join of one stream with a relation.",
            fix="start the join with a new checkpoint.",
        )

    @staticmethod
    def numbers(directory: Directory) -> list[int]:
        """Numbers of all blobs except the directory."""
        return numbers_of(directory, directory.own["relation"]["ends"])

    @as_step
    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Running:
        """Change the relation, then join the arrivals of a micro-batch with it."""
        store, relation = self.store, self.store.relation
        passed_us = self.spec.late_us(_STREAM, store.late_ms)
        relation.tidy(passed_us)
        changes = list(pieces_of(arrived, RELATION))
        late = store.apply(changes)
        seen = taken = matched = 0
        for chunk in chunks(arrived, self.spec, store.late_ms):
            seen += chunk.seen
            if chunk.rows.num_rows:
                taken += chunk.rows.num_rows
                store.latest_us = max(store.latest_us, int(chunk.hot.time.max()))
                for batch in self._joined(chunk):
                    matched += batch.num_rows
                    yield batch
        store.watermark_ms = max(store.watermark_ms, watermark_ms)
        return Report(
            seen=(seen,),
            late=(seen - taken,),
            matched=matched,
            importance=float(matched),
            changes=sum(rows.num_rows for rows in changes),
            changes_late=late,
            relation=relation.rows.count_after(passed_us),
            segments=len(self.payload.segments),
            state_bytes=self.payload.nbytes + relation.rows.nbytes,
            watermark_ms=store.watermark_ms,
        )

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write the changes of the relation; return facts for the directory."""
        return {
            "seed": self._seed,
            "latest_us": self.store.latest_us,
            "relation": self.store.relation.write(changes),
        }

    def _joined(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """Join rows with the relation rows that are valid at their times."""
        relation = self.store.relation
        room = room_for(chunk, [self.payload.segments.values()])
        active = relation.rows.active(_STREAM, chunk.hot.key, chunk.hot.time)
        for at, slot in active:
            for first in range(0, at.size, room):
                own, other = at[first : first + room], slot[first : first + room]
                rows = relation.taken(other)
                same = self._same_keys(chunk.rows, own, rows)
                met = Met(chunk.rows, own[same]), Met(rows, np.flatnonzero(same))
                yield from joined_columns(self.spec, met)

    def _same_keys(
        self, rows: pa.RecordBatch, at: IntArray, related: pa.RecordBatch
    ) -> BoolArray:
        """For each match, whether the keys are equal, and not only their hashes."""
        same = np.ones(at.size, np.bool_)
        own, others = self.spec.streams[_STREAM].keys, self.store.spec.keys[_STREAM]
        for name, other in zip(own, others, strict=True):
            given = rows.column(name).take(pa.array(at))
            same &= equal_rows(given, related.column(other))
        return same
