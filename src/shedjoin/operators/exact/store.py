"""The window store: one shard's residents of both sides, and what a batch changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from shedjoin.columns.batches import chunked
from shedjoin.columns.hot import Hot, hot_columns
from shedjoin.columns.schema import as_stored
from shedjoin.kernels.index import count_after
from shedjoin.operators.exact.ring import Ring
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.codec import Directory
from shedjoin.state.segments import Segment, worth_moving
from shedjoin.state.workspace import Workspace
from shedjoin.types import SIDES, IntArray, Side

_NAMES = ("left", "right")
BEGINNING_MS = -(1 << 52)
"""A watermark before all times, for runs in which nothing is late."""
EMPTY = Directory(segments=(), next_slot=(0, 0), next_id=0, watermark_ms=0, token="")


class WindowStore:
    """Residents of one shard.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    workspace : Workspace
        Holds the decoded state.
    directory : Directory
        Segments and scalars as last stored.
    opened : bool
        The workspace already holds this state; otherwise :meth:`restore` fills it.
    """

    def __init__(
        self,
        spec: JoinSpec,
        workspace: Workspace,
        directory: Directory = EMPTY,
        *,
        opened: bool = False,
    ) -> None:
        self.spec = spec
        self.workspace = workspace
        self.segments: tuple[list[Segment], list[Segment]] = ([], [])
        for segment in directory.segments:
            self.segments[segment.side].append(segment)
        self.next_id = directory.next_id
        self.watermark_ms = directory.watermark_ms
        self.seed = directory.seed
        self.written: list[int] = []
        self.dropped: list[int] = []
        self.longest_chain = 0
        ends = directory.next_slot
        bases = [self._base(side, ends[side]) for side in SIDES]
        self.rings = [
            Ring(
                workspace,
                _NAMES[side],
                bases[side],
                ends[side] if opened else bases[side],
                directory.seed,
                opened=opened,
            )
            for side in SIDES
        ]

    @staticmethod
    def empty(spec: JoinSpec, workspace: Workspace, seed: int) -> WindowStore:
        """Make the store of a state that begins."""
        return WindowStore(spec, workspace, EMPTY._replace(seed=seed))

    def restore(
        self, load: Callable[[int], pa.RecordBatch], directory: Directory
    ) -> None:
        """Fill an empty workspace from the stored segments."""
        for side in SIDES:
            for segment in self.segments[side]:
                rows = as_stored(load(segment.id))
                self.workspace.put(segment.id, rows)
                self.rings[side].insert(self._hot(side, rows), segment.first_slot)
            self.rings[side].skip_to(directory.next_slot[side])

    def directory(self, token: str) -> Directory:
        """All that has to be stored besides the rows."""
        left, right = self.rings
        return Directory(
            segments=(*self.segments[0], *self.segments[1]),
            next_slot=(left.end, right.end),
            next_id=self.next_id,
            watermark_ms=self.watermark_ms,
            token=token,
            seed=self.seed,
        )

    def insert(self, side: Side, rows: pa.RecordBatch, hot: Hot) -> None:
        """Make rows residents: a new segment at the end of the window."""
        segment = Segment(
            id=self.next_id,
            side=side,
            first_slot=self.rings[side].insert(hot),
            rows=rows.num_rows,
            alive=rows.num_rows,
            min_us=int(hot.time.min()),
            max_us=int(hot.time.max()),
            bytes=rows.nbytes,
        )
        self.next_id += 1
        self.segments[side].append(segment)
        self.workspace.put(segment.id, rows)
        self.written.append(segment.id)

    def tidy(self) -> None:
        """Rewrite the segments that are worth it (see ``worth_moving``)."""
        for side in SIDES:
            moving = worth_moving(self.segments[side], self.rings[side].end)
            for merged in chunked(self._taken_out(side, moving)):
                self.insert(side, merged, self._hot(side, merged))

    def expire(self, watermark_ms: int) -> None:
        """Let go of residents that nothing can match any more."""
        watermark_ms = max(self.watermark_ms, watermark_ms)
        self.watermark_ms = watermark_ms
        for side in SIDES:
            horizon = self._horizon(side)
            for place, segment in enumerate(list(self.segments[side])):
                if segment.min_us <= horizon:
                    alive = self._count_alive(side, segment, horizon)
                    self.segments[side][place] = segment._replace(alive=alive)
            for segment in [s for s in self.segments[side] if not s.alive]:
                self._drop(side, segment)

    def ahead(self, first_new: int, watermark_ms: int) -> int:
        """Count new rows that lie more than the window after what both sides reached.

        ``first_new`` is the first segment of the micro-batch.
        """
        latest = [
            max((segment.max_us for segment in self.segments[side]), default=None)
            for side in SIDES
        ]
        if latest[0] is None or latest[1] is None:
            return 0
        reached = max(1000 * watermark_ms, min(latest[0], latest[1]))
        horizon = reached + self.spec.window_us
        count = 0
        for side in SIDES:
            for segment in self.segments[side]:
                if segment.id >= first_new and segment.max_us > horizon:
                    entries = self.rings[side].entries
                    first, rows = segment.first_slot, segment.rows
                    count += count_after(entries, first, rows, horizon)
        return int(count)

    def by_segment(
        self, side: Side, slots: IntArray
    ) -> Iterator[tuple[pa.RecordBatch, IntArray, IntArray | None]]:
        """Sort slots by segment: its rows, the rows hit, and the places in ``slots``.

        Places are None when all slots lie in one segment.
        """
        segments = self.segments[side]
        first = np.array([segment.first_slot for segment in segments])
        owner = np.searchsorted(first, slots, side="right") - 1
        if owner[0] == owner[-1] and (owner == owner[0]).all():
            segment = segments[int(owner[0])]
            yield self.workspace.get(segment.id), slots - segment.first_slot, None
            return
        small = np.min_scalar_type(len(segments))  # sorted by radix if 16 bits will do
        order = np.argsort(owner.astype(small), kind="stable")
        owner = owner[order]
        cuts = np.flatnonzero(np.diff(owner)) + 1
        for places in np.split(order, cuts):
            segment = segments[
                int(np.searchsorted(first, slots[places[0]], "right") - 1)
            ]
            rows = self.workspace.get(segment.id)
            yield rows, slots[places] - segment.first_slot, places

    def residents(self, side: Side) -> int:
        """Count the rows of a side that an arrival could still match."""
        return sum(segment.alive for segment in self.segments[side])

    @property
    def nbytes(self) -> int:
        """Bytes of payload and index."""
        payload = sum(
            segment.bytes for side in SIDES for segment in self.segments[side]
        )
        return payload + sum(ring.nbytes for ring in self.rings)

    def _hot(self, side: Side, rows: pa.RecordBatch) -> Hot:
        return hot_columns(rows, self.spec.sides[side], direct=self.spec.direct)

    def _horizon(self, side: Side) -> int:
        return 1000 * self.watermark_ms - self.spec.keep_us(side)

    def _base(self, side: Side, end: int) -> int:
        return self.segments[side][0].first_slot if self.segments[side] else end

    def _count_alive(self, side: Side, segment: Segment, horizon: int) -> int:
        if segment.max_us <= horizon:
            return 0
        entries = self.rings[side].entries
        return int(count_after(entries, segment.first_slot, segment.rows, horizon))

    def _taken_out(self, side: Side, moving: list[Segment]) -> Iterator[pa.RecordBatch]:
        """Survivors of segments that are given up, one segment at a time."""
        for segment in moving:
            survivors = self._survivors(side, segment)
            self.rings[side].bury(segment.first_slot, segment.rows)
            self._drop(side, segment)
            yield survivors

    def _survivors(self, side: Side, segment: Segment) -> pa.RecordBatch:
        rows = self.workspace.get(segment.id)
        if segment.alive == segment.rows:
            return rows
        time = self.rings[side].read(segment.first_slot, segment.rows).time
        return rows.filter(pa.array(time > self._horizon(side)))

    def _drop(self, side: Side, segment: Segment) -> None:
        self.segments[side].remove(segment)
        self.workspace.drop(segment.id)
        if segment.id in self.written:
            self.written.remove(segment.id)
        else:
            self.dropped.append(segment.id)
        self.rings[side].base = self._base(side, self.rings[side].end)
