"""Holds the residents of one shard, and evicts some, for joins with a memory budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.columns.hot import Hot
from shedjoin.kernels.ranges import PLACE
from shedjoin.operators.multiway.store import MultiwayStore, Piece
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs
from shedjoin.state.merging import newest_to_merge
from shedjoin.state.payload import Payload, places, row_of, segment_of
from shedjoin.state.segments import Segment
from shedjoin.state.workspace import Workspace
from shedjoin.types import BoolArray, IntArray, IntGrid


class BoundedStore(MultiwayStore):
    """Residents of one shard of a join with a memory budget.

    New arrivals are *held*: they are in basic windows and can be matched, but are not
    stored yet. A micro-batch is processed in parts. At the end of each part, the
    arrivals that are still residents are stored.

    Parameters
    ----------
    spec, payload, workspace, parts
        As for :class:`MultiwayStore`.
    """

    def __init__(
        self, spec: JoinSpec, payload: Payload, workspace: Workspace, parts: int
    ) -> None:
        super().__init__(spec, payload, workspace, parts, bounded=True)
        self.gone: list[IntArray] = []
        """Places of evicted rows that are not written to the log yet."""
        self._held: dict[int, int] = {}
        self._dead = np.zeros(0, np.int64)

    def restore_without(
        self, own: dict[str, Any], blobs: Blobs, dead: IntArray
    ) -> None:
        """Fill an empty workspace from the stored segments, without evicted rows.

        ``dead`` are the places of evicted rows.
        """
        self._dead = dead
        self.restore(own, blobs)
        self._dead = self._dead[:0]

    def hold(self, stream: int, rows: pa.RecordBatch, hot: Hot) -> IntGrid:
        """Hold arrivals in memory; return the columns that :meth:`admit` takes."""
        segment = self.payload.hold(stream, rows)
        self._held[stream] = segment.id
        times = int(hot.time.min()), int(hot.time.max())
        self.pieces[segment.id] = Piece(segment, 0, *times)
        return self.layouts[stream].columns(rows, hot, places(segment))

    def admit(self, stream: int, columns: IntGrid) -> None:
        """Make some of the held arrivals residents."""
        self.windows[stream].insert(columns)
        piece = self.pieces[self._held[stream]]
        alive = piece.alive + columns.shape[1]
        self.pieces[piece.segment.id] = piece._replace(alive=alive)

    def keep(self) -> None:
        """Store the held arrivals that are still residents."""
        for stream, number in sorted(self._held.items()):
            piece, rows = self.pieces.pop(number), self.payload.let_go(number)
            if not piece.alive:
                continue
            place = self.windows[stream].column(PLACE)
            place = np.sort(place[segment_of(place) == number])
            if place.size < rows.num_rows:
                rows = rows.take(pa.array(row_of(place)))
            segment = self.payload.add(stream, rows)
            self.windows[stream].move(place, segment)
            self.pieces[segment.id] = Piece(segment, place.size, *piece[2:])
        self._held.clear()

    def evict(self, stream: int, gone: BoolArray, place: IntArray) -> None:
        """Evict the residents marked by ``gone``.

        ``gone`` and ``place`` are in the order of the rows of the basic windows.
        """
        self.windows[stream].take_out(gone)
        left = place[gone]
        self._count_out(left)
        self.gone.append(left[segment_of(left) != self._held.get(stream, -1)])

    def dead(self) -> IntArray:
        """Places of all rows that are in segments, but are not residents."""
        found = [np.zeros(0, np.int64)]
        for stream in self.streams:
            alive = self.windows[stream].column(PLACE)
            for piece in self._pieces(stream):
                if piece.alive < piece.segment.rows:
                    own = places(piece.segment)
                    found.append(own[~np.isin(own, alive)])
        return np.concatenate(found)

    @property
    def dead_rows(self) -> int:
        """Number of rows that are in segments, but are not residents."""
        return sum(piece.segment.rows - piece.alive for piece in self.pieces.values())

    def shrink(self, most_bytes: int) -> None:
        """Rewrite segments until the state has at most ``most_bytes``, if possible.

        Segments in which the smallest share of rows are residents are rewritten first.
        """
        sparse = [p for p in self.pieces.values() if p.alive < p.segment.rows]
        sparse.sort(key=lambda p: (p.alive / p.segment.rows, p.segment.id))
        held, moving = float(self.nbytes), list[Piece]()
        while sparse and held > most_bytes:
            piece = sparse.pop(0)
            held -= piece.segment.bytes * (1 - piece.alive / piece.segment.rows)
            moving.append(piece)
        for stream in self.streams:
            self._rewrite(stream, [p for p in moving if p.segment.stream == stream])

    def _expiring(self, stream: int) -> Iterator[IntArray]:
        """Yield places of rows that expire now.

        Each row is dropped as soon as it expires, not together with its basic window,
        because other rows need the room.
        """
        return self.windows[stream].cut(self._horizon(stream))

    def _columns(self, segment: Segment, rows: pa.RecordBatch) -> IntGrid:
        columns = super()._columns(segment, rows)
        first, end = np.searchsorted(
            self._dead, [places(segment)[0], places(segment)[-1] + 1]
        )
        return columns[:, ~np.isin(columns[PLACE], self._dead[first:end])]

    def _worth_moving(self, stream: int) -> list[Piece]:
        """Segments to rewrite: those with few residents; if none, many small ones."""
        pieces = self._pieces(stream)
        sparse = [piece for piece in pieces if 2 * piece.alive < piece.segment.rows]
        if sparse or not pieces:
            return sparse
        merged = newest_to_merge([piece.segment for piece in pieces])
        return pieces[len(pieces) - merged :]

    def _drop(self, number: int) -> None:
        if number not in self._held.values():  # held rows may become residents later
            super()._drop(number)
