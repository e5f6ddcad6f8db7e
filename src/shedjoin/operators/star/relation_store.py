"""Stores a relation, and restores it.

Rows are stored in segments, in the order in which they came. If the end of a row
changes later, the new end is stored in a log. When most rows have ended, the remaining
rows are written again, with new slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.columns.batches import chunked
from shedjoin.columns.equality import equal_rows
from shedjoin.columns.relating import Related, key_names
from shedjoin.operators.frame.combine import Met
from shedjoin.operators.frame.join import Opening
from shedjoin.operators.frame.results import Parts, gathered, row_bytes
from shedjoin.operators.star.relation import Applied, Relation
from shedjoin.spec.relation import END, RELATION
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.changes import ChangeLog
from shedjoin.state.merging import newest_to_merge
from shedjoin.state.payload import Payload
from shedjoin.state.segments import Segment
from shedjoin.state.workspace import MemoryWorkspace, Workspace
from shedjoin.types import BoolArray, IntArray

_LOG = 1 << 20
"""Number of the log. Its blobs have other numbers than the blobs of residents and
models."""
_ENDS = ["slot", "end", "reached"]
_SLACK = 1 << 10
"""If fewer rows than this have ended, the remaining rows are not written again."""


class RelationStore:
    """Relation rows of one shard, in memory and in their stored form.

    Parameters
    ----------
    workspace : Workspace
        Holds indexes and arrays.
    payload : Payload
        Segments with the relation rows.
    seed : int
        Seed of the buckets of the indexes.
    own : dict
        What :meth:`write` returned when the relation was stored; empty if it was not.
    opened : bool
        Whether the workspace already holds the rows; otherwise :meth:`restore` fills
        it.
    tells : bool
        Whether results contain columns of the relation.
    """

    def __init__(
        self,
        workspace: Workspace,
        payload: Payload,
        seed: int,
        own: dict[str, Any],
        *,
        opened: bool,
        tells: bool = False,
    ) -> None:
        self._payload = payload
        self._numbers: list[int] = list(own.get("segments", ()))
        self._log = ChangeLog(_LOG, "slot", own.get("ends", ()))
        self._moved = [np.zeros(0, np.int64)]
        self._anew = False
        count = own.get("rows", 0) if opened else 0
        self.rows = Relation(workspace, count, seed, tells=tells)

    def restore(self, blobs: Blobs) -> None:
        """Fill an empty workspace from the stored segments and the log."""
        for number in self._numbers:
            rows = self._payload.restore(number, blobs)
            self.rows.append(Related.of(rows))
        for part in self._log.read(blobs):
            self.rows.set_ends(*(part.column(name).to_numpy() for name in _ENDS))

    def apply(self, changes: pa.RecordBatch, *, table: bool) -> Applied:
        """Apply changes, or add all rows of a table (see :meth:`Relation.apply`)."""
        applied = self.rows.apply(Related.of(changes), table=table)
        if applied.new.size:
            for rows in chunked(iter([changes.take(pa.array(applied.new))])):
                self._numbers.append(self._payload.add(RELATION, rows).id)
        self._moved.append(applied.moved)
        return applied

    def tidy(self, horizon_us: int) -> None:
        """Write the remaining rows again if most have ended; else merge small segments.

        A row has ended if its end is not after ``horizon_us``.
        """
        alive = self.rows.lasting(horizon_us)
        if self.rows.count > 2 * alive.size + _SLACK:
            self._store_anew(alive)
        elif self._numbers:
            segments = [self._payload.segments[number] for number in self._numbers]
            merged = newest_to_merge(segments)
            if merged:
                self._rewrite(len(segments) - merged)

    def by_segment(self, slot: IntArray) -> Parts:
        """Group relation rows by segment, given their slots."""
        sizes = [self._payload.segments[number].rows for number in self._numbers]
        first = np.cumsum([0, *sizes])
        owner = np.searchsorted(first, slot, side="right") - 1
        ids = np.array(self._numbers)
        return self._payload.by_segment(ids, owner, slot - first[owner])

    def taken(self, slot: IntArray) -> pa.RecordBatch:
        """Packed rows of some slots."""
        return gathered(self.by_segment(slot), slot.size)

    @property
    def row_bytes(self) -> int:
        """Mean size of a packed row in bytes."""
        return row_bytes(self._payload.segments[number] for number in self._numbers)

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write the ends that changed; return facts for the directory."""
        slot = np.unique(np.concatenate(self._moved))
        if self._anew:
            self._log.forget(changes)
        elif self._log.is_long(slot.size, self.rows.count):
            self._log.forget(changes)
            slot = np.arange(self.rows.count)
        ends = slot, self.rows.end[slot], self.rows.reached[slot]
        self._log.add(pa.record_batch([*map(pa.array, ends)], _ENDS), changes)
        self._moved, self._anew = [np.zeros(0, np.int64)], False
        return {
            "segments": self._numbers,
            "rows": self.rows.count,
            "ends": self._log.parts,
        }

    def take_over(self, former: RelationStore) -> None:
        """Continue with the rows of another store, which is not changed."""
        self._put(*former.packed(np.arange(former.rows.count)))

    def packed(self, slot: IntArray) -> tuple[list[pa.RecordBatch], IntArray]:
        """Packed rows with their present ends, and the latest end each has ever had."""
        deletion = self.rows.deletions(slot)
        end = np.where(deletion, self.rows.begin[slot], self.rows.end[slot])
        found = []
        for rows in chunked(iter([self.taken(slot)])) if slot.size else ():
            place = rows.schema.get_field_index(END)
            own, end = end[: rows.num_rows], end[rows.num_rows :]
            found.append(rows.set_column(place, END, pa.array(own)))
        return found, self.rows.reached[slot]

    def _store_anew(self, alive: IntArray) -> None:
        """Remove all rows except those at ``alive``, which get new slots."""
        kept, reached = self.packed(alive)
        self._drop(0)
        self.rows.clear()
        self._put(kept, reached)

    def _put(self, packed: list[pa.RecordBatch], reached: IntArray) -> None:
        """Add packed rows to an empty store, with the latest ends they have had."""
        for rows in packed:
            self.rows.append(Related.of(rows))
            self._numbers.append(self._payload.add(RELATION, rows).id)
        further = np.flatnonzero(reached > self.rows.reached[: reached.size])
        self.rows.set_ends(further, self.rows.end[further], reached[further])
        self._moved, self._anew = [further], True

    def _rewrite(self, first: int) -> None:
        """Merge the newest segments, from position ``first`` on."""
        kept = [self._payload.get(number) for number in self._numbers[first:]]
        merged = list(chunked(iter(kept)))
        self._drop(first)
        self._numbers += [self._payload.add(RELATION, rows).id for rows in merged]

    def _drop(self, first: int) -> None:
        for number in self._numbers[first:]:
            self._payload.drop(number)
        del self._numbers[first:]


def stored_relation(opening: Opening) -> RelationStore:
    """Read the stored relation of a join with or without a budget."""
    directory, workspace = opening.directory, MemoryWorkspace()
    if directory is None:
        raise TypeError(opening)
    own = directory.own["relation"]
    segments = directory.segments
    if "own_segments" in own:
        segments = tuple(Segment(*facts) for facts in own["own_segments"])
    payload = Payload(workspace, segments)
    tells = opening.spec.relation is not None and bool(opening.spec.relation.told)
    found = RelationStore(
        *(workspace, payload, opening.seed, own), opened=False, tells=tells
    )
    found.restore(opening.blobs)
    return found


def same_keys(related: pa.RecordBatch, spec: JoinSpec, met: Sequence[Met]) -> BoolArray:
    """For each match, whether the relation row has the keys of both stream rows.

    The keys themselves are compared, not only their hashes.
    """
    same = np.ones(related.num_rows, np.bool_)
    for side, each in enumerate(met):
        keys = spec.streams[side].keys
        for name, key in zip(key_names(side, len(keys)), keys, strict=True):
            own = each.rows.column(key).take(pa.array(each.at))
            same &= equal_rows(related.column(name), own)
    return same
