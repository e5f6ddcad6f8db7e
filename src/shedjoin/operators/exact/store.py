"""Holds the residents of all streams in one shard of the exact join."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from shedjoin.columns.batches import chunked
from shedjoin.columns.hot import Hot, hot_columns
from shedjoin.kernels.index import count_after
from shedjoin.operators.exact.ring import Ring
from shedjoin.operators.frame.runs import Run, Stored, worth_moving
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs
from shedjoin.state.payload import Payload
from shedjoin.state.workspace import Workspace
from shedjoin.types import IntArray


class WindowStore:
    """Residents of one shard.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    payload : Payload
        Holds the rows of the residents.
    workspace : Workspace
        Holds the index.
    stored : Stored
        Runs and ends of the rings as they were last stored.
    opened : bool
        Whether the workspace already holds the index; otherwise :meth:`restore` fills
        it.
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
        self.streams = range(len(spec.streams))
        self.runs: tuple[list[Run], ...] = tuple([] for _ in self.streams)
        for run in stored.runs:
            self.runs[run.segment.stream].append(run)
        self._ends = stored.ends
        self.seed = stored.seed
        self.rings = []
        for stream in self.streams:
            base = self._base(stream, stored.ends[stream])
            end = stored.ends[stream] if opened else base
            self.rings.append(
                Ring(workspace, str(stream), base, end, stored.seed, opened=opened)
            )

    def stored(self) -> Stored:
        """Facts to store besides the rows."""
        runs = tuple(run for own in self.runs for run in own)
        return Stored(runs, tuple(ring.end for ring in self.rings), self.seed)

    def restore(self, blobs: Blobs) -> None:
        """Fill an empty workspace from the stored segments, one at a time."""
        for stream in self.streams:
            for run in self.runs[stream]:
                rows = self.payload.restore(run.segment.id, blobs)
                self.rings[stream].insert(self._hot(stream, rows), run.first_slot)
            self.rings[stream].skip_to(self._ends[stream])

    def insert(self, stream: int, rows: pa.RecordBatch, hot: Hot) -> None:
        """Make rows residents: store them as a new segment, in the next slots."""
        first_slot = self.rings[stream].insert(hot)
        times = int(hot.time.min()), int(hot.time.max())
        segment = self.payload.add(stream, rows)
        self.runs[stream].append(Run(segment, first_slot, rows.num_rows, *times))

    def tidy(self) -> None:
        """Rewrite the segments that :func:`worth_moving` selects."""
        for stream in self.streams:
            moving = worth_moving(self.runs[stream], self.rings[stream].end)
            for merged in chunked(self._taken_out(stream, moving)):
                self._put_back(stream, merged)

    def expire(self, watermark_ms: int) -> None:
        """Remove residents that no arrival can match any more."""
        watermark_ms = max(self.watermark_ms, watermark_ms)
        self.watermark_ms = watermark_ms
        for stream in self.streams:
            horizon = self.horizon_us(stream)
            for place, run in enumerate(list(self.runs[stream])):
                if run.min_us <= horizon:
                    alive = self._count_alive(stream, run, horizon)
                    self.runs[stream][place] = run._replace(alive=alive)
            for run in [run for run in self.runs[stream] if not run.alive]:
                self._drop(stream, run)

    def ahead(self, first_new: int, watermark_ms: int) -> int:
        """Count new rows more than a window ahead of the time all streams reached.

        ``first_new`` is the number of the first segment of the micro-batch.
        """
        latest = [max((run.max_us for run in own), default=None) for own in self.runs]
        seen = [time for time in latest if time is not None]
        if len(seen) < len(latest):
            return 0
        reached = max(1000 * watermark_ms, min(seen))
        horizon = reached + self.spec.window_us
        count = 0
        for stream in self.streams:
            for run in self.runs[stream]:
                if run.segment.id >= first_new and run.max_us > horizon:
                    count += self._count_alive(stream, run, horizon)
        return int(count)

    def by_segment(
        self, stream: int, slots: IntArray
    ) -> Iterator[tuple[pa.RecordBatch, IntArray, IntArray]]:
        """Group slots by segment.

        Yield the rows of each segment, the positions of the wanted rows in the segment,
        and their positions in ``slots``.
        """
        runs = self.runs[stream]
        ids = np.array([run.segment.id for run in runs])
        first = np.array([run.first_slot for run in runs])
        owner = np.searchsorted(first, slots, side="right") - 1
        return self.payload.by_segment(ids, owner, slots - first[owner])

    def is_empty(self, stream: int) -> bool:
        """Whether no row of a stream can be matched."""
        ring = self.rings[stream]
        return ring.base == ring.end

    def residents(self, stream: int) -> int:
        """Count the rows of a stream that an arrival can still match."""
        return sum(run.alive for run in self.runs[stream])

    @property
    def nbytes(self) -> int:
        """Bytes of payload and index."""
        return self.payload.nbytes + sum(ring.nbytes for ring in self.rings)

    def _hot(self, stream: int, rows: pa.RecordBatch) -> Hot:
        return hot_columns(rows, self.spec.streams[stream], direct=self.spec.direct)

    def horizon_us(self, stream: int) -> int:
        """Time up to which residents cannot be matched any more."""
        return self.spec.expired_us(stream, self.watermark_ms)

    def _base(self, stream: int, end: int) -> int:
        return self.runs[stream][0].first_slot if self.runs[stream] else end

    def _count_alive(self, stream: int, run: Run, horizon: int) -> int:
        if run.max_us <= horizon:
            return 0
        entries = self.rings[stream].entries
        return int(count_after(entries, run.first_slot, run.segment.rows, horizon))

    def _put_back(self, stream: int, merged: pa.RecordBatch) -> None:
        """Store rows that :meth:`_taken_out` has yielded."""
        self.insert(stream, merged, self._hot(stream, merged))

    def _taken_out(self, stream: int, moving: list[Run]) -> Iterator[pa.RecordBatch]:
        """Remove runs; yield the rows of each run that have not expired."""
        for run in moving:
            survivors = self._survivors(stream, run)
            self.rings[stream].bury(run.first_slot, run.segment.rows)
            self._drop(stream, run)
            yield survivors

    def _survivors(self, stream: int, run: Run) -> pa.RecordBatch:
        rows = self.payload.get(run.segment.id)
        if run.alive == run.segment.rows:
            return rows
        time = self.rings[stream].read(run.first_slot, run.segment.rows).time
        return rows.filter(pa.array(time > self.horizon_us(stream)))

    def _drop(self, stream: int, run: Run) -> None:
        self.runs[stream].remove(run)
        self.payload.drop(run.segment.id)
        self.rings[stream].base = self._base(stream, self.rings[stream].end)
