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

from shedjoin.columns.batches import CHUNK_BYTES
from shedjoin.state.workspace import Workspace
from shedjoin.types import SIDES, BoolArray, IntArray, Side

ROW_BITS = 32
_ROW_MASK = (1 << ROW_BITS) - 1
_MERGE = 16
_MOSTLY_DEAD = 0.5
_DENSE, _TIDY = 1.5, 1.2
_SMALL_BYTES = 1 << 16
_SLACK_BYTES = 1 << 16


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
        self.workspace = workspace
        self.segments = {segment.id: segment for segment in segments}
        self.next_id = next_id
        self.written: list[int] = []
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
        self.workspace.put(number, rows)
        self.written.append(number)
        return (number << ROW_BITS) + np.arange(rows.num_rows)

    def by_segment(
        self, place: IntArray
    ) -> Iterator[tuple[pa.RecordBatch, IntArray, IntArray]]:
        """Sort places by segment: its rows, the rows hit, positions in ``place``."""
        ids, owner = self._owners(place)
        small = np.min_scalar_type(ids.size)  # sorted by radix if 16 bits will do
        order = np.argsort(owner.astype(small), kind="stable")
        cuts = np.flatnonzero(np.diff(owner[order])) + 1
        for part in np.split(order, cuts):
            rows = self.workspace.get(int(ids[owner[part[0]]]))
            yield rows, place[part] & _ROW_MASK, part

    def is_dense(self, residents: int) -> bool:
        """Whether there is little to tidy up: few segments, few rows that died."""
        rows = sum(segment.rows for segment in self.segments.values())
        return len(self.segments) < _MERGE and rows <= _DENSE * residents

    def tidy(
        self, place: IntArray, size: IntArray | None, most: int | None
    ) -> IntArray:
        """Rewrite segments until at most ``most`` bytes are held; return new places.

        ``place`` and ``size`` are those of all residents; without sizes the rows of a
        segment count alike, and without ``most`` some more may be held than lives.
        Segments without a resident go; those in which most is dead come first, then
        the next worst; small ones are put together when there are many of them.
        """
        if not self.segments:
            return place
        ids, owner = self._owners(place)
        count = np.bincount(owner, minlength=ids.size)
        if size is None:
            each = [self.segments[one].bytes / self.segments[one].rows for one in ids]
            live = count * np.array(each)
        else:
            live = np.bincount(owner, weights=size, minlength=ids.size)
        if most is None:
            most = int(_TIDY * live.sum()) + _SLACK_BYTES
        for at in np.flatnonzero(count == 0):
            self._drop(int(ids[at]))
        chosen = self._chosen(dict(zip(ids.tolist(), live.tolist(), strict=True)), most)
        if not chosen:
            return place
        return self._rewrite(chosen, place, np.isin(ids, chosen)[owner])

    def _owners(self, place: IntArray) -> tuple[IntArray, IntArray]:
        """All segments' numbers, and which of them each place is in."""
        ids = np.array(sorted(self.segments), np.int64)
        position = np.zeros(ids[-1] - ids[0] + 1, np.int64)
        position[ids - ids[0]] = np.arange(ids.size)
        return ids, position[(place >> ROW_BITS) - ids[0]]

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
        for side in SIDES:
            small = [
                number
                for number, segment in self.segments.items()
                if segment.side == side and segment.bytes < _SMALL_BYTES
            ]
            chosen += small if len(small) >= _MERGE else []
        return sorted(set(chosen))

    def _rewrite(self, chosen: list[int], place: IntArray, hit: BoolArray) -> IntArray:
        place = place.copy()
        moving = np.flatnonzero(hit)
        moving = moving[np.argsort(place[moving])]
        segment = place[moving] >> ROW_BITS
        sides = {number: self.segments[number].side for number in chosen}
        for side in SIDES:
            mine = [number for number in chosen if sides[number] == side]
            own = moving[np.isin(segment, mine)]
            for rows, at in self._merged(place[own]):
                place[own[at]] = self.add(side, rows)
        for number in chosen:
            self._drop(number)
        return place

    def _merged(self, place: IntArray) -> Iterator[tuple[pa.RecordBatch, IntArray]]:
        """Rows of some segments in chunks, and their positions in ``place``."""
        parts: list[pa.RecordBatch] = []
        moved: list[IntArray] = []
        for rows, found, at in self.by_segment(place) if place.size else ():
            parts.append(rows.take(pa.array(found)))
            moved.append(at)
            if sum(part.nbytes for part in parts) >= CHUNK_BYTES:
                yield pa.concat_batches(parts), np.concatenate(moved)
                parts, moved = [], []
        if parts:
            yield pa.concat_batches(parts), np.concatenate(moved)

    def _drop(self, number: int) -> None:
        del self.segments[number]
        self.workspace.drop(number)
        if number in self.written:
            self.written.remove(number)
        else:
            self.dropped.append(number)
