"""The window store: one shard's residents of every stream."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from shedjoin.columns.batches import chunked
from shedjoin.columns.hot import Hot, hot_columns
from shedjoin.kernels.index import count_after
from shedjoin.operators.exact.ring import Ring
from shedjoin.operators.exact.runs import Run, Stored, worth_moving
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs
from shedjoin.state.payload import Payload
from shedjoin.state.workspace import Workspace
from shedjoin.types import SIDES, IntArray, Side


class WindowStore:
    """Residents of one shard.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    payload : Payload
        Their rows.
    workspace : Workspace
        Holds the index.
    stored : Stored
        Runs and ends of the rings as last stored.
    opened : bool
        The workspace already holds the index; otherwise :meth:`restore` fills it.
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
        self.spec = spec
        self.payload = payload
        self.watermark_ms = 0
        self.longest_chain = 0
        self.runs: tuple[list[Run], ...] = tuple([] for _ in SIDES)
        for run in stored.runs:
            self.runs[run.segment.stream].append(run)
        self._ends = stored.ends
        self.seed = stored.seed
        self.rings = []
        for side in SIDES:
            base = self._base(side, stored.ends[side])
            end = stored.ends[side] if opened else base
            self.rings.append(
                Ring(workspace, str(side), base, end, stored.seed, opened=opened)
            )

    def restore(self, blobs: Blobs) -> None:
        """Fill an empty workspace from the stored segments, one at a time."""
        for side in SIDES:
            for run in self.runs[side]:
                rows = self.payload.restore(run.segment.id, blobs)
                self.rings[side].insert(self._hot(side, rows), run.first_slot)
            self.rings[side].skip_to(self._ends[side])

    def insert(self, side: Side, rows: pa.RecordBatch, hot: Hot) -> None:
        """Make rows residents: a new segment at the end of the window."""
        first_slot = self.rings[side].insert(hot)
        times = int(hot.time.min()), int(hot.time.max())
        segment = self.payload.add(side, rows)
        self.runs[side].append(Run(segment, first_slot, rows.num_rows, *times))

    def tidy(self) -> None:
        """Rewrite the segments that are worth it (see ``worth_moving``)."""
        for side in SIDES:
            moving = worth_moving(self.runs[side], self.rings[side].end)
            for merged in chunked(self._taken_out(side, moving)):
                self.insert(side, merged, self._hot(side, merged))

    def expire(self, watermark_ms: int) -> None:
        """Let go of residents that nothing can match any more."""
        watermark_ms = max(self.watermark_ms, watermark_ms)
        self.watermark_ms = watermark_ms
        for side in SIDES:
            horizon = self._horizon(side)
            for place, run in enumerate(list(self.runs[side])):
                if run.min_us <= horizon:
                    alive = self._count_alive(side, run, horizon)
                    self.runs[side][place] = run._replace(alive=alive)
            for run in [run for run in self.runs[side] if not run.alive]:
                self._drop(side, run)

    def ahead(self, first_new: int, watermark_ms: int) -> int:
        """Count new rows that lie more than the window after what both sides reached.

        ``first_new`` is the first segment of the micro-batch.
        """
        latest = [
            max((run.max_us for run in self.runs[side]), default=None) for side in SIDES
        ]
        if latest[0] is None or latest[1] is None:
            return 0
        reached = max(1000 * watermark_ms, min(latest[0], latest[1]))
        horizon = reached + self.spec.window_us
        count = 0
        for side in SIDES:
            for run in self.runs[side]:
                if run.segment.id >= first_new and run.max_us > horizon:
                    count += self._count_alive(side, run, horizon)
        return int(count)

    def by_segment(
        self, side: Side, slots: IntArray
    ) -> Iterator[tuple[pa.RecordBatch, IntArray, IntArray]]:
        """Sort slots by segment: all rows of it, those hit, and where they stood."""
        runs = self.runs[side]
        ids = np.array([run.segment.id for run in runs])
        first = np.array([run.first_slot for run in runs])
        owner = np.searchsorted(first, slots, side="right") - 1
        return self.payload.by_segment(ids, owner, slots - first[owner])

    def residents(self, side: Side) -> int:
        """Count the rows of a side that an arrival could still match."""
        return sum(run.alive for run in self.runs[side])

    @property
    def nbytes(self) -> int:
        """Bytes of payload and index."""
        return self.payload.nbytes + sum(ring.nbytes for ring in self.rings)

    def _hot(self, side: Side, rows: pa.RecordBatch) -> Hot:
        return hot_columns(rows, self.spec.sides[side], direct=self.spec.direct)

    def _horizon(self, side: Side) -> int:
        return 1000 * self.watermark_ms - self.spec.keep_us(side)

    def _base(self, side: Side, end: int) -> int:
        return self.runs[side][0].first_slot if self.runs[side] else end

    def _count_alive(self, side: Side, run: Run, horizon: int) -> int:
        if run.max_us <= horizon:
            return 0
        entries = self.rings[side].entries
        return int(count_after(entries, run.first_slot, run.segment.rows, horizon))

    def _taken_out(self, side: Side, moving: list[Run]) -> Iterator[pa.RecordBatch]:
        """Survivors of runs that are given up, one run at a time."""
        for run in moving:
            survivors = self._survivors(side, run)
            self.rings[side].bury(run.first_slot, run.segment.rows)
            self._drop(side, run)
            yield survivors

    def _survivors(self, side: Side, run: Run) -> pa.RecordBatch:
        rows = self.payload.get(run.segment.id)
        if run.alive == run.segment.rows:
            return rows
        time = self.rings[side].read(run.first_slot, run.segment.rows).time
        return rows.filter(pa.array(time > self._horizon(side)))

    def _drop(self, side: Side, run: Run) -> None:
        self.runs[side].remove(run)
        self.payload.drop(run.segment.id)
        self.rings[side].base = self._base(side, self.rings[side].end)
