"""Counts the rows and bytes that an exact join would hold, without holding them.

A *run* is the rows of one stream that the exact join would store as one segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from operator import mul
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from shedjoin.operators.frame.ordered import Ordered
from shedjoin.operators.frame.runs import (
    SLOT_BYTES,
    Run,
    slots_for,
    worth_moving,
)
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.segments import Segment
from shedjoin.types import IntArray

_NEEDED = "needed"
_PARTS = 64
"""Number of stretches of time in a window. The rows of a stretch are counted as if
their times were spread evenly from its first row to its last."""
_SHORTEST_US = 1000
_MOST = 160
"""Limit of the stretches of a run. If there are more, pairs of older stretches are
merged."""
_RUNS = 64
"""Limit of the runs of a stream. If there are more, two adjacent runs are merged."""


class _Stretch(NamedTuple):
    """Rows of a stretch of time: their number, and their first and last time."""

    rows: int
    first_us: int
    last_us: int

    def alive(self, expired_us: int) -> int:
        """Number of rows from ``expired_us`` on, if times are spread evenly."""
        whole = self.last_us + 1 - self.first_us
        left = min(max(self.last_us + 1 - expired_us, 0), whole)
        return self.rows * left // whole

    def with_(self, other: _Stretch) -> _Stretch:
        """Merge two stretches."""
        return _Stretch(
            self.rows + other.rows,
            min(self.first_us, other.first_us),
            max(self.last_us, other.last_us),
        )


_Held: TypeAlias = dict[int, _Stretch]


@dataclass(slots=True)
class _Books:
    """Runs of slots of one stream, and the rows of each run by stretches of time."""

    end: int = 0
    slots: int = 0
    runs: list[Run] = field(default_factory=list)
    held: list[_Held] = field(default_factory=list)
    coming: list[tuple[int, int, _Held]] = field(default_factory=list)

    def add(self, rows: int, size: int, held: _Held) -> None:
        """Assign the next slots to rows."""
        segment = Segment(0, 0, rows, size)
        self.runs.append(Run(segment, self.end, rows, 0, 0))
        self.held.append(held)
        self.end += rows
        self.slots = slots_for(self.end - self.runs[0].first_slot, self.slots)
        while len(self.runs) > _RUNS:
            self._count_as_one()

    def arrive(self) -> None:
        """Assign the next slots to the arrivals of a micro-batch, as one run."""
        if self.coming:
            rows, size, held = zip(*self.coming, strict=True)
            self.add(sum(rows), sum(size), _sum(held))
        self.coming = []

    def tidy(self) -> None:
        """Rewrite the runs that the exact join would rewrite, as one run at the end."""
        moving = worth_moving(self.runs, self.end)
        if not moving:
            return
        first = self.runs.index(moving[0])
        rows = sum(run.alive for run in moving)
        size = sum(_bytes_alive(run) for run in moving)
        held = _sum(self.held[first : first + len(moving)])
        del self.runs[first : first + len(moving)]
        del self.held[first : first + len(moving)]
        self.add(rows, size, held)

    def expire(self, expired_us: int) -> None:
        """Remove rows before a time, and runs that have no rows left."""
        for place, held in enumerate(self.held):
            for part in [part for part in held if held[part].last_us < expired_us]:
                del held[part]
            alive = sum(each.alive(expired_us) for each in held.values())
            alive = max(alive, bool(held))
            self.runs[place] = self.runs[place]._replace(alive=alive)
        left = [place for place, run in enumerate(self.runs) if run.alive]
        self.runs = [self.runs[place] for place in left]
        self.held = [self.held[place] for place in left]

    def _count_as_one(self) -> None:
        """Merge the two adjacent runs that have the fewest rows together.

        If several pairs have equally few rows, the oldest pair is merged.
        """
        rows = np.array([run.segment.rows for run in self.runs])
        at = int(np.argmin(rows[:-1] + rows[1:]))
        one, other = self.runs[at : at + 2]
        segment = Segment(
            *(0, 0, one.segment.rows + other.segment.rows),
            one.segment.bytes + other.segment.bytes,
        )
        self.runs[at : at + 2] = [
            one._replace(segment=segment, alive=one.alive + other.alive)
        ]
        self.held[at : at + 2] = [_sum(self.held[at : at + 2])]


class Needed:
    """Counts all rows that came and have not expired, whether they were shed or not.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    own : dict
        What :meth:`facts` returned when the state was stored; empty if there was none.
    entry_bytes : sequence of int, optional
        Bytes that the exact join uses for each row of a stream, in addition to the row
        itself. By default, the bytes of the hash index are counted.
    """

    def __init__(
        self,
        spec: JoinSpec,
        own: dict[str, Any],
        entry_bytes: Sequence[int] | None = None,
    ) -> None:
        self._spec = spec
        self._entry_bytes = entry_bytes
        self._width = max(max(spec.keeps_us) // _PARTS, _SHORTEST_US)
        self._books = [_Books() for _ in spec.streams]
        for books, stored in zip(self._books, own.get(_NEEDED, ()), strict=False):
            books.end, books.slots, runs = stored
            for first, rows, size, alive, held in runs:
                segment = Segment(0, 0, rows, size)
                books.runs.append(Run(segment, first, alive, 0, 0))
                books.held.append(dict(_restored(each, self._width) for each in held))

    def facts(self) -> dict[str, Any]:
        """Facts to store, as a part of the directory."""
        return {_NEEDED: [_facts(books, self._width) for books in self._books]}

    def begin(self) -> None:
        """Begin a micro-batch."""
        for books in self._books:
            if books.runs:
                books.tidy()

    def add(self, came: Ordered) -> None:
        """Count arrivals.

        In a join through a relation, nothing is counted: the number of rows that the
        exact join would hold depends on the relation.
        """
        if self._spec.relation is not None:
            return
        for own in range(len(self._books)):
            time = came.time[came.stream == own]
            if time.size:
                self.add_rows(own, time, came.rows[own])

    def add_rows(self, stream: int, time: IntArray, rows: pa.RecordBatch) -> None:
        """Count rows of one stream, with their times."""
        held = _stretches(time, self._width)
        self._books[stream].coming.append((time.size, rows.nbytes, held))

    def arrive(self) -> None:
        """End one micro-batch, or one segment of residents.

        The rows counted since the last call become one run, because the exact join
        would store them as one segment, and drop this segment as a whole.
        """
        for books in self._books:
            books.arrive()

    def end(self, watermark_ms: int) -> dict[str, int]:
        """Remove expired rows; return the rows and bytes left, as report fields."""
        if self._spec.relation is not None:
            return {}
        self.arrive()
        for stream, books in enumerate(self._books):
            expired_us = self._spec.expired_us(stream, watermark_ms) + 1
            books.expire(expired_us)
        rows = [sum(run.alive for run in books.runs) for books in self._books]
        size = sum(run.segment.bytes for books in self._books for run in books.runs)
        if self._entry_bytes is not None:
            size += sum(map(mul, rows, self._entry_bytes))
        else:
            size += sum(
                SLOT_BYTES * max(one.slots, slots_for(0, 0)) for one in self._books
            )
        return {"needed_rows": sum(rows), "needed_bytes": size}


def _facts(books: _Books, width_us: int) -> list[Any]:
    """Facts to store; times are counted from the start of their stretch."""
    runs = [
        [
            *(run.first_slot, *run.segment[2:], run.alive),
            [
                [part, rows, first - part * width_us, last - part * width_us]
                for part, (rows, first, last) in sorted(held.items())
            ],
        ]
        for run, held in zip(books.runs, books.held, strict=True)
    ]
    return [books.end, books.slots, runs]


def _restored(facts: list[int], width_us: int) -> tuple[int, _Stretch]:
    part, rows, *times = facts
    return part, _Stretch(rows, *(part * width_us + time for time in times))


def _stretches(time: IntArray, width_us: int) -> _Held:
    """Group rows by stretches of time."""
    time = np.sort(time)
    part, first, rows = np.unique(
        time // width_us, return_index=True, return_counts=True
    )
    columns = rows, time[first], time[first + rows - 1]
    each = map(_Stretch, *(column.tolist() for column in columns))
    return _sum([dict(zip(part.tolist(), each, strict=True))])


def _sum(each: Iterable[_Held]) -> _Held:
    """Add up stretches; if there are too many, older stretches are merged."""
    total: _Held = {}
    for held in each:
        for part, rows in held.items():
            total[part] = total[part].with_(rows) if part in total else rows
    while len(total) > _MOST:
        total = _coarser(total)
    return total


def _coarser(held: _Held) -> _Held:
    """Merge pairs of adjacent stretches, except the latest ``_PARTS``.

    The latest stretches stay exact, because their rows are counted for longest.
    """
    parts = sorted(held)
    old = parts[:-_PARTS]
    found = {part: held[part] for part in parts[-_PARTS:]}
    for one, other in zip_longest(old[::2], old[1::2]):
        if other is None:
            found[one] = held[one]
        else:
            found[other] = held[one].with_(held[other])
    return found


def _bytes_alive(run: Run) -> int:
    return run.segment.bytes * run.alive // max(1, run.segment.rows)
