"""Which residents have matched: what outer, semi and anti joins store of a row.

A micro-batch writes only the rows that matched for the first time, as places in a log.
So the bytes it writes do not depend on the window.
"""

from __future__ import annotations

import numpy as np

from shedjoin.state.payload import ROW_BITS, places, row_of, segment_of
from shedjoin.state.segments import Segment
from shedjoin.state.workspace import Workspace
from shedjoin.types import BoolArray, IntArray


class FirstMatches:
    """One flag for each stored row, by segment; places that matched are logged.

    Parameters
    ----------
    workspace : Workspace
        Holds the flags.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._flags: dict[int, IntArray] = {}
        self.gone: list[IntArray] = []
        """Places that are not written to the log yet."""

    @property
    def nbytes(self) -> int:
        """Bytes of the flags."""
        return sum(flags.nbytes for flags in self._flags.values())

    @property
    def dead_rows(self) -> int:
        """Number of stored rows that have matched."""
        return sum(int(flags.sum()) for flags in self._flags.values())

    def dead(self) -> IntArray:
        """Places of all stored rows that have matched."""
        found = [
            (number << ROW_BITS) + np.flatnonzero(flags)
            for number, flags in self._flags.items()
        ]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def of(self, number: int) -> BoolArray:
        """Whether each row of a segment has matched."""
        met: BoolArray = self._flags[number] != 0
        return met

    def add(self, segment: Segment, met: BoolArray) -> None:
        """Add the flags of a new segment; ``met`` says which rows have matched."""
        flags = self._workspace.new_array(_name(segment.id), segment.rows)
        flags[:] = met
        self._flags[segment.id] = flags
        if met.any():
            self.gone.append(places(segment)[met])

    def open(self, segment: Segment) -> None:
        """Find the flags of a segment in the workspace."""
        self._flags[segment.id] = self._workspace.array(_name(segment.id))

    def restore(self, segment: Segment, logged: IntArray) -> BoolArray:
        """Make the flags of a stored segment from the logged places; return them."""
        met = np.zeros(segment.rows, np.bool_)
        met[row_of(logged[segment_of(logged) == segment.id])] = True
        flags = self._workspace.new_array(_name(segment.id), segment.rows)
        flags[:] = met
        self._flags[segment.id] = flags
        return met

    def note(self, number: int, row: IntArray) -> IntArray:
        """Note matches of rows of a segment; return where the first matches are.

        If a row occurs several times in ``row``, one position is returned for it.
        """
        flags = self._flags[number]
        new: IntArray = np.flatnonzero(flags[row] == 0)
        flags[row[new]] = new  # one of its positions remains for each row
        new = new[flags[row[new]] == new]
        flags[row[new]] = 1
        if new.size:
            self.gone.append((number << ROW_BITS) + row[new])
        return new

    def drop(self, number: int) -> None:
        """Drop the flags of a removed segment; its places may stay in the log."""
        del self._flags[number]
        self._workspace.drop_array(_name(number))
        self.gone = [
            left
            for place in self.gone
            if (left := place[segment_of(place) != number]).size
        ]


def _name(number: int) -> str:
    return f"matched.{number}"
