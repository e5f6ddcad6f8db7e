"""Holds the residents of all streams in one shard, in basic windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.batches import chunked
from shedjoin.columns.hot import Hot, hot_columns
from shedjoin.operators.frame.results import Parts, gathered
from shedjoin.operators.multiway.layout import Layout
from shedjoin.operators.multiway.windows import PARTS, BasicWindows
from shedjoin.spec.streams import JoinSpec, StreamSpec
from shedjoin.state.blobs import Blobs
from shedjoin.state.merging import newest_to_merge
from shedjoin.state.payload import Payload, places, row_of, segment_of
from shedjoin.state.segments import Segment
from shedjoin.state.workspace import Workspace
from shedjoin.types import IntArray, IntGrid

_SLACK_ROWS = 1 << 10
_LEAST_WIDEST_US = 10_000_000


class Piece(NamedTuple):
    """A segment, the number of its rows that are in basic windows, and their times."""

    segment: Segment
    alive: int
    min_us: int
    max_us: int


def _widest_us(stream: StreamSpec) -> int:
    """Limit of the length of the basic windows of a stream.

    A row may be kept longer than needed by this length. In some streams, a row may have
    expired before it comes. For these streams, the limit is 0 and basic windows keep
    their length, because only the time of a row shows whether it was dropped.
    """
    late = stream.keep_us < 0 or stream.lag_us > 0
    return 0 if late else max(stream.keep_us, _LEAST_WIDEST_US)


class MultiwayStore:
    """Residents of one shard.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    payload : Payload
        Holds the rows of the residents.
    workspace : Workspace
        Holds the basic windows.
    parts : int
        Number of basic windows in the time for which a row is kept.
    """

    def __init__(
        self,
        spec: JoinSpec,
        payload: Payload,
        workspace: Workspace,
        parts: int = PARTS,
        *,
        bounded: bool = False,
    ) -> None:
        self.spec = spec
        self.payload = payload
        self.parts = parts
        self.watermark_ms = 0
        self.longest_chain = 0
        self.streams = range(len(spec.streams))
        self.layouts = [
            Layout.of(spec, stream, bounded=bounded) for stream in self.streams
        ]
        self.windows = [
            BasicWindows(
                *(workspace, str(number), self.layouts[number]),
                stream.keep_us // parts,
                _widest_us(stream),
            )
            for number, stream in enumerate(spec.streams)
        ]
        self.pieces: dict[int, Piece] = {}

    def open(self, own: dict[str, Any]) -> None:
        """Continue in a workspace that holds the rows and the tiers."""
        self._know(own)
        for windows, stored in zip(self.windows, own["windows"], strict=True):
            windows.open(stored)

    def restore(self, own: dict[str, Any], blobs: Blobs) -> None:
        """Fill an empty workspace from the stored segments."""
        self._know(own)
        parts: list[list[IntGrid]] = [[] for _ in self.streams]
        for number in sorted(self.pieces):
            segment = self.pieces[number].segment
            rows = self.payload.restore(number, blobs)
            parts[segment.stream].append(self._columns(segment, rows))
        for stream, stored in enumerate(own["windows"]):
            self.windows[stream].restore(stored, parts[stream])

    def stored(self) -> dict[str, Any]:
        """Facts that :meth:`open` and :meth:`restore` need."""
        pieces = sorted(self.pieces.values())
        parts = {} if self.parts == PARTS else {"parts": self.parts}
        return parts | {
            "pieces": [[piece.segment.id, *piece[1:]] for piece in pieces],
            "windows": [windows.stored() for windows in self.windows],
            "next_tiers": [windows.next_tier for windows in self.windows],
            "widths": [[each.width_us, each.dropped_us] for each in self.windows],
        }

    def _know(self, own: dict[str, Any]) -> None:
        for number, *facts in own["pieces"]:
            self.pieces[number] = Piece(self.payload.segments[number], *facts)
        for windows, number in zip(self.windows, own["next_tiers"], strict=True):
            windows.next_tier = number
        for windows, (width, dropped) in zip(self.windows, own["widths"], strict=True):
            windows.width_us, windows.dropped_us = width, dropped

    def insert(self, stream: int, rows: pa.RecordBatch, hot: Hot) -> None:
        """Make rows residents: store a segment, and insert them into basic windows."""
        segment = self.payload.add(stream, rows)
        times = int(hot.time.min()), int(hot.time.max())
        self.pieces[segment.id] = Piece(segment, rows.num_rows, *times)
        place = places(segment)
        self.windows[stream].insert(self.layouts[stream].columns(rows, hot, place))

    def tidy(self) -> None:
        """Rewrite segments with few residents, and merge small segments."""
        for stream in self.streams:
            self._rewrite(stream, self._worth_moving(stream))

    def _rewrite(self, stream: int, moving: list[Piece]) -> None:
        """Move the residents of some segments of a stream to new segments."""
        own = self.spec.streams[stream]
        for rows in chunked(self._taken_out(moving)):
            hot = hot_columns(rows, own, direct=self.spec.direct)
            self.insert(stream, rows, hot)

    def expire(self, watermark_ms: int) -> None:
        """Remove residents that no arrival can match any more."""
        self.watermark_ms = max(self.watermark_ms, watermark_ms)
        for stream in self.streams:
            gone = [np.zeros(0, np.int64), *self._expiring(stream)]
            self._count_out(np.concatenate(gone))

    def _expiring(self, stream: int) -> Iterator[IntArray]:
        """Yield places of rows that expire now. Basic windows expire as a whole."""
        return self.windows[stream].expire(self._horizon(stream))

    def _count_out(self, place: IntArray) -> None:
        """Subtract removed rows, given by their places, from the counts of segments."""
        numbers, counts = np.unique(segment_of(place), return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            piece = self.pieces[number]
            self.pieces[number] = piece._replace(alive=piece.alive - count)
            if piece.alive == count:
                self._drop(number)

    def ahead(self, first_new: int, watermark_ms: int) -> int:
        """Count new rows more than a window ahead of the time all streams reached.

        ``first_new`` is the number of the first segment of the micro-batch.
        """
        latest: dict[int, int] = {}
        for piece in self.pieces.values():
            stream = piece.segment.stream
            latest[stream] = max(latest.get(stream, piece.max_us), piece.max_us)
        if len(latest) < len(self.streams):
            return 0
        reached = max(1000 * watermark_ms, min(latest.values()))
        horizon = reached + self.spec.window_us
        return sum(
            self.windows[stream].count_after(horizon, first_new)
            for stream in self.streams
            if latest[stream] > horizon
        )

    def by_segment(self, stream: int, slots: IntArray) -> Parts:
        """Group residents by segment, given their places."""
        del stream
        return self.payload.by_place(slots)

    def column(self, stream: int, slots: IntArray, name: str) -> pa.Array:
        """Values of one column of residents, given their places."""
        parts = (
            (rows.select([name]), hit, at)
            for rows, hit, at in self.by_segment(stream, slots)
        )
        return gathered(parts, slots.size).column(name)

    def segments(self, stream: int) -> list[Segment]:
        """Segments of a stream, oldest first."""
        return [piece.segment for piece in self._pieces(stream)]

    def is_empty(self, stream: int) -> bool:
        """Whether no row of a stream can be matched."""
        return not self.windows[stream].tiers

    def residents(self, stream: int) -> int:
        """Count the rows of a stream that an arrival can still match."""
        return self.windows[stream].count_after(self._horizon(stream))

    @property
    def nbytes(self) -> int:
        """Bytes of payload and index."""
        return self.payload.nbytes + sum(windows.nbytes for windows in self.windows)

    def _horizon(self, stream: int) -> int:
        return self.spec.expired_us(stream, self.watermark_ms)

    def _pieces(self, stream: int) -> list[Piece]:
        return sorted(p for p in self.pieces.values() if p.segment.stream == stream)

    def _columns(self, segment: Segment, rows: pa.RecordBatch) -> IntGrid:
        """Columns of those rows of a segment that are in basic windows."""
        own = self.spec.streams[segment.stream]
        hot = hot_columns(rows, own, direct=self.spec.direct)
        columns = self.layouts[segment.stream].columns(rows, hot, places(segment))
        return columns[:, hot.time > self.windows[segment.stream].dropped_us]

    def _worth_moving(self, stream: int) -> list[Piece]:
        """Segments to rewrite, chosen as in the exact join.

        If more than half of all stored rows are not residents, the oldest segments are
        rewritten. Otherwise, the newest segments are merged if many of them are small.
        """
        pieces = self._pieces(stream)
        if not pieces:
            return []
        alive = sum(piece.alive for piece in pieces)
        stored = sum(piece.segment.rows for piece in pieces)
        moving = []
        for piece in pieces:
            if stored <= 2 * alive + _SLACK_ROWS:
                break
            moving.append(piece)
            stored -= piece.segment.rows
        if moving:
            return moving
        merged = newest_to_merge([piece.segment for piece in pieces])
        return pieces[len(pieces) - merged :]

    def _taken_out(self, moving: list[Piece]) -> Iterator[pa.RecordBatch]:
        """Remove segments; yield the residents of each segment."""
        for piece in moving:
            windows = self.windows[piece.segment.stream]
            place = windows.remove(piece.segment.id, piece.min_us, piece.max_us)
            rows = self.payload.get(piece.segment.id).take(pa.array(row_of(place)))
            self._drop(piece.segment.id)
            yield rows

    def _drop(self, number: int) -> None:
        del self.pieces[number]
        self.payload.drop(number)
