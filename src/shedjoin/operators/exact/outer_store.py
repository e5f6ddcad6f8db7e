"""Residents of an outer, semi or anti join: each knows whether it has matched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.hot import Hot
from shedjoin.kernels.index import NEVER
from shedjoin.operators.exact.first_matches import FirstMatches
from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.combine import Met
from shedjoin.operators.frame.runs import Run, Stored
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.payload import Payload
from shedjoin.state.workspace import Workspace
from shedjoin.types import BoolArray, IntArray

_MATCHED = "__shedjoin_matched"
"""Column of rows that are moved to another segment: whether each has matched."""


class Alone(NamedTuple):
    """Rows of a stream whose wait is over, and which have found no partner."""

    stream: int
    rows: Met
    row_bytes: int


class OuterStore(WindowStore):
    """Residents of one shard, with a flag for each row that needs one.

    A row needs a flag if its stream is preserved: at the end of its wait, it is emitted
    unless it has matched. In a semi and an anti join, left rows need one as well:
    there, a left row that has matched is removed at once.

    Parameters
    ----------
    spec, payload, workspace, stored, opened
        As in :class:`WindowStore`.
    """

    def __init__(
        self,
        spec: JoinSpec,
        payload: Payload,
        workspace: Workspace,
        stored: Stored,
        *,
        opened: bool = False,
    ) -> None:
        super().__init__(spec, payload, workspace, stored, opened=opened)
        self.first = FirstMatches(workspace)
        left = spec.preserves[0] or spec.left_alone
        self.flagged = (left, spec.preserves[1])
        for run in stored.runs if opened else ():
            if self.flagged[run.segment.stream]:
                self.first.open(run.segment)

    @property
    def nbytes(self) -> int:
        """Bytes of payload, index and flags."""
        return super().nbytes + self.first.nbytes

    def restore_flags(self, logged: IntArray) -> None:
        """Set the flags of the restored rows from the logged places."""
        for stream in self.streams:
            for run in self.runs[stream] if self.flagged[stream] else ():
                met = self.first.restore(run.segment, logged)
                if self.spec.left_alone:
                    self.rings[stream].bury_each(run.first_slot + np.flatnonzero(met))

    def insert_met(
        self, stream: int, rows: pa.RecordBatch, hot: Hot, met: BoolArray
    ) -> None:
        """Make rows residents; ``met`` says which of them have matched."""
        if not rows.num_rows:
            return
        self.insert(stream, rows, hot)
        if self.flagged[stream]:
            self.first.add(self.runs[stream][-1].segment, met)

    def note_matches(self, stream: int, slot: IntArray) -> IntArray:
        """Note that the residents ``slot``, all of one segment, have matched.

        Returns the positions in ``slot`` of those that matched for the first time. Left
        rows of a semi or an anti join are removed when they have matched.
        """
        runs = self.runs[stream]
        owner = bisect_right(runs, int(slot[0]), key=lambda run: run.first_slot) - 1
        run = runs[owner]
        new = self.first.note(run.segment.id, slot - run.first_slot)
        if self.spec.left_alone and new.size:
            self.rings[stream].bury_each(slot[new])
            runs[owner] = run._replace(alive=run.alive - new.size)
        return new

    def ending(self, watermark_ms: int, first_new: int) -> Iterator[Alone]:
        """Yield the rows without a partner whose wait ends with this watermark.

        ``first_new`` is the number of the first segment of the micro-batch. The wait of
        a new row may have been over when it came. So of new segments, rows whose wait
        ended at an earlier watermark are yielded as well.
        """
        reached_ms = max(self.watermark_ms, watermark_ms)
        for stream in self.streams:
            if not self.spec.preserves[stream]:
                continue
            before = self.horizon_us(stream)
            now = self.spec.expired_us(stream, reached_ms)
            for run in self.runs[stream]:
                if run.min_us > now:
                    continue
                since = int(NEVER) if run.segment.id >= first_new else before
                time = self.rings[stream].read(run.first_slot, run.segment.rows).time
                over = (time > since) & (time <= now) & ~self.first.of(run.segment.id)
                if over.any():
                    rows = self.payload.get(run.segment.id)
                    size = run.segment.bytes // run.segment.rows
                    yield Alone(stream, Met(rows, np.flatnonzero(over)), size)

    def _survivors(self, stream: int, run: Run) -> pa.RecordBatch:
        rows = super()._survivors(stream, run)
        if not self.flagged[stream]:
            return rows
        met = self.first.of(run.segment.id)
        if rows.num_rows < run.segment.rows:
            time = self.rings[stream].read(run.first_slot, run.segment.rows).time
            met = met[time > self.horizon_us(stream)]
        return rows.append_column(_MATCHED, pa.array(met))

    def _put_back(self, stream: int, merged: pa.RecordBatch) -> None:
        if not self.flagged[stream]:
            super()._put_back(stream, merged)
            return
        met = merged.column(_MATCHED).to_numpy(zero_copy_only=False)
        rows = merged.drop_columns([_MATCHED])
        self.insert_met(stream, rows, self._hot(stream, rows), met)

    def _drop(self, stream: int, run: Run) -> None:
        super()._drop(stream, run)
        if self.flagged[stream]:
            self.first.drop(run.segment.id)
