"""Payload of residents: immutable segments, and where each resident's row lies.

A *place* is a segment's number and a row in it; negative places are rows of the
micro-batch that is being joined. Rows of residents that left stay behind in their
segment until it is rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.core.workspace import Workspace
from shedjoin.types import SIDES, IntArray, Side

ROW_BITS = 32
_ROW_MASK = (1 << ROW_BITS) - 1
_MERGE = 16
_MOSTLY_DEAD = 0.5
_SMALL_BYTES = 1 << 16


class Stored(NamedTuple):
    """One segment."""

    id: int
    side: int
    rows: int
    bytes: int


class Payload:
    """Segments of both sides.

    Parameters
    ----------
    workspace : Workspace
        Holds the rows.
    segments : sequence of Stored
        Segments as last stored.
    next_id : int
        The number of the next one.
    """

    def __init__(
        self, workspace: Workspace, segments: Sequence[Stored] = (), next_id: int = 0
    ) -> None:
        self._workspace = workspace
        self.segments = {segment.id: segment for segment in segments}
        self.next_id = next_id
        self.written: dict[int, pa.RecordBatch] = {}
        self.dropped: list[int] = []

    @property
    def nbytes(self) -> int:
        """Bytes of all segments, rows of former residents included."""
        return sum(segment.bytes for segment in self.segments.values())

    def add(self, side: Side, rows: pa.RecordBatch) -> IntArray:
        """Store rows; return their places."""
        number = self.next_id
        self.next_id += 1
        self.segments[number] = Stored(number, side, rows.num_rows, rows.nbytes)
        self._workspace.put(number, rows)
        self.written[number] = rows
        return (number << ROW_BITS) + np.arange(rows.num_rows)

    def by_segment(
        self, place: IntArray
    ) -> Iterator[tuple[pa.RecordBatch, IntArray, IntArray]]:
        """Sort places by segment: its rows, the rows hit, positions in ``place``."""
        order = np.argsort(place >> ROW_BITS, kind="stable")
        number = place[order] >> ROW_BITS
        for part in np.split(order, np.flatnonzero(np.diff(number)) + 1):
            rows = self._workspace.get(int(place[part[0]] >> ROW_BITS))
            yield rows, place[part] & _ROW_MASK, part

    def tidy(self, place: IntArray, size: IntArray, most: int) -> IntArray:
        """Rewrite segments until at most ``most`` bytes are held; return new places.

        ``place`` and ``size`` are those of all residents. Segments without a resident
        go; those in which most is dead come first, then the next worst; small ones are
        put together when there are many of them.
        """
        number = place >> ROW_BITS
        ids = np.array(sorted(self.segments), np.int64)
        owner = np.searchsorted(ids, number)
        live = np.bincount(owner, weights=size, minlength=ids.size)
        for at in np.flatnonzero(np.bincount(owner, minlength=ids.size) == 0):
            self._drop(int(ids[at]))
        chosen = self._chosen({int(ids[at]): live[at] for at in range(ids.size)}, most)
        if not chosen:
            return place
        return self._rewrite(chosen, place)

    def _chosen(self, live: dict[int, float], most: int) -> list[int]:
        dead = {
            number: 1.0 - live[number] / max(1, segment.bytes)
            for number, segment in self.segments.items()
        }
        worst = sorted(dead, key=lambda number: -dead[number])
        held, chosen = self.nbytes, []
        for number in worst:
            if held <= most and dead[number] < _MOSTLY_DEAD:
                break
            held -= int(dead[number] * self.segments[number].bytes)
            chosen.append(number)
        for side in (0, 1):
            small = [
                number
                for number, segment in self.segments.items()
                if segment.side == side and segment.bytes < _SMALL_BYTES
            ]
            chosen += small if len(small) >= _MERGE else []
        return sorted(set(chosen))

    def _rewrite(self, chosen: list[int], place: IntArray) -> IntArray:
        place = place.copy()
        number = place >> ROW_BITS
        for side in SIDES:
            mine = [n for n in chosen if n in self.segments and self._side(n) == side]
            hit = np.flatnonzero(np.isin(number, mine))
            hit = hit[np.argsort(place[hit])]
            parts, moved = [], []
            if not hit.size:
                continue
            for rows, found, at in self.by_segment(place[hit]):
                parts.append(rows.take(pa.array(found)))
                moved.append(hit[at])
            for one in mine:
                self._drop(one)
            if parts:
                moved_to = self.add(side, pa.concat_batches(parts))
                place[np.concatenate(moved)] = moved_to
        return place

    def _side(self, number: int) -> int:
        return self.segments[number].side

    def _drop(self, number: int) -> None:
        del self.segments[number]
        self._workspace.drop(number)
        if self.written.pop(number, None) is None:
            self.dropped.append(number)
