"""The outer, semi and anti joins of one shard, without a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Blob, Chunk, keyless
from shedjoin.columns.hot import Hot
from shedjoin.errors import StateMismatchError
from shedjoin.kernels.index import fixed
from shedjoin.operators.exact.hops import Partial, matches
from shedjoin.operators.exact.join import ExactJoin
from shedjoin.operators.exact.outer_store import OuterStore
from shedjoin.operators.exact.unpaired import left_rows, unpaired_rows
from shedjoin.operators.frame.combine import Met, equal_keys, joined_columns
from shedjoin.operators.frame.completeness import Completeness
from shedjoin.operators.frame.gone_log import GoneLog
from shedjoin.operators.frame.join import (
    Opening,
    Residents,
    Running,
    as_step,
)
from shedjoin.operators.frame.reading import numbers_of
from shedjoin.operators.frame.results import room_for, room_within
from shedjoin.operators.frame.step import windowed_step
from shedjoin.spec.report import Report
from shedjoin.state.blobs import Commit
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload
from shedjoin.types import BoolArray, IntArray

_LOG = "matched"


class OuterJoin(ExactJoin):
    """The join of one shard that also emits rows without a partner, or left rows alone.

    A row of a preserved stream that finds no partner is emitted with nulls when the
    watermark passes the end of its wait: from then on, no arrival can match it. A row
    whose key is null has no partner, and is emitted at once.

    Parameters
    ----------
    store, completeness
        As in :class:`ExactJoin`.
    """

    kind = "outer"

    store: OuterStore
    makes = OuterStore

    def __init__(self, store: OuterStore, completeness: Completeness) -> None:
        super().__init__(store, completeness)
        self._log = GoneLog()

    @classmethod
    def open(cls, opening: Opening) -> Self:
        """Open the join from stored state, or begin a new one."""
        join = super().open(opening)
        if opening.directory is not None:
            join._log = GoneLog(opening.directory.own[_LOG])  # noqa: SLF001  (its own)
            if not opening.opened:
                join.store.restore_flags(join._log.places(opening.blobs))  # noqa: SLF001
        return join

    @classmethod
    def adopt(
        cls, opening: Opening, payload: Payload, residents: Iterable[Residents]
    ) -> Self:
        """Refuse the residents of another kind of join: matches were not noted."""
        del opening, payload, residents
        raise StateMismatchError(
            "the checkpoint is that of another kind of join.",
            fix="start the join with a new checkpoint.",
        )

    @staticmethod
    def numbers(directory: Directory) -> list[int]:
        """Numbers of all blobs except the directory."""
        return numbers_of(directory, directory.own[_LOG])

    @as_step
    def _step(self, arrived: Sequence[Blob], watermark_ms: int) -> Running:
        """Join the arrivals; for rows without a key, no partner is searched for."""
        seen, late, given = [0, 0], [0, 0], 0
        for stream, rows, on_time in keyless(
            arrived, self.spec, self.store.watermark_ms
        ):
            seen[stream] += rows.num_rows
            late[stream] += rows.num_rows - on_time.size
            size = rows.nbytes // max(1, rows.num_rows)
            for batch in self._without_partner(stream, Met(rows, on_time), size):
                given += batch.num_rows
                yield batch

        def ending(first_new: int) -> Iterator[pa.RecordBatch]:
            for alone in self.store.ending(watermark_ms, first_new):
                yield from self._without_partner(*alone)

        common = self.store, self._taken_in, arrived, watermark_ms
        step = windowed_step(*common, ending=ending)
        yield from step
        passed = tuple(a - b for a, b in zip(seen, late, strict=True))
        return step.report + Report(
            seen=tuple(seen),
            late=tuple(late),
            stored=passed,
            expired=passed,
            matched=given,
            importance=float(given),
        )

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write the rows that have matched; return facts for the directory."""
        self._log.write(self.store.first, changes)
        own = {_LOG: [list(part) for part in self._log.parts]}
        return super().write(changes) | own

    def _taken_in(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """Join arrivals with residents of the other stream, then store the arrivals."""
        met = np.zeros(chunk.rows.num_rows, np.bool_)
        yield from self._joined(chunk, met)
        if self.spec.left_alone and chunk.stream == 0:
            if self.spec.how == "left_semi":
                yield from left_rows(self.spec, Met(chunk.rows, np.flatnonzero(met)))
            chunk = _without(chunk, met)
            met = np.zeros(chunk.rows.num_rows, np.bool_)
        self.store.insert_met(chunk.stream, chunk.rows, chunk.hot, met)

    def _joined(self, chunk: Chunk, into_met: BoolArray) -> Iterator[pa.RecordBatch]:
        """Yield joined rows, and left rows that match for the first time.

        The arrivals that have a partner are noted in ``into_met``.
        """
        spec, store, other = self.spec, self.store, 1 - chunk.stream
        if store.is_empty(other):
            return
        room = room_for(chunk, [[run.segment for run in store.runs[other]]])
        start = Partial.of(chunk.hot, spec.keeps_us[chunk.stream])
        for arrival, slots in matches(store, start, [other], room):
            for rows, hit, at in store.by_segment(other, slots[other]):
                pair = [Met(chunk.rows, arrival[at]), Met(rows, hit)]
                if chunk.stream:
                    pair.reverse()
                slot = slots[other][at]
                if not spec.direct:
                    same = equal_keys(spec, pair)
                    pair = [Met(each.rows, each.at[same]) for each in pair]
                    slot = slot[same]
                into_met[pair[chunk.stream].at] = True
                yield from self._emitted(other, slot, pair)

    def _emitted(
        self, other: int, slot: IntArray, pair: Sequence[Met]
    ) -> Iterator[pa.RecordBatch]:
        """Note the matches of residents, and yield what they bring."""
        if not slot.size:
            return
        new = np.zeros(0, np.int64)
        if self.store.flagged[other]:
            new = self.store.note_matches(other, slot)
        if not self.spec.left_alone:
            yield from joined_columns(self.spec, pair)
        elif self.spec.how == "left_semi" and other == 0 and new.size:
            left = pair[0]
            yield from left_rows(self.spec, Met(left.rows, left.at[np.sort(new)]))

    def _without_partner(
        self, stream: int, met: Met, row_bytes: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows without a partner, in batches of bounded size.

        The bytes of a row come from the caller: those of decoded rows differ between
        attempts at a micro-batch, and each attempt must yield the same batches.
        """
        if not self.spec.preserves[stream] or not met.at.size:
            return
        room = room_within(row_bytes)
        for start in range(0, met.at.size, room):
            part = Met(met.rows, met.at[start : start + room])
            yield from unpaired_rows(self.spec, stream, part)


def _without(chunk: Chunk, met: BoolArray) -> Chunk:
    """Arrivals that have no partner yet."""
    if not met.any():
        return chunk
    left = np.flatnonzero(~met)
    hot = Hot(fixed(chunk.hot.key[left]), fixed(chunk.hot.time[left]))
    return chunk._replace(rows=chunk.rows.take(pa.array(left)), hot=hot)
