"""The hash index of the residents of one stream, in a ring of slots."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shedjoin.columns.hot import Hot
from shedjoin.kernels.index import (
    NEVER,
    NOWHERE,
    STRIDE,
    Index,
    Pairs,
    bury,
    fixed,
    link,
    probe,
    read_run,
    times_of,
)
from shedjoin.operators.frame.runs import slots_for
from shedjoin.state.workspace import Workspace
from shedjoin.types import IntArray


class Ring:
    """Hash index of slots ``base`` to ``end - 1``; its capacity is a power of two.

    Parameters
    ----------
    workspace : Workspace
        Holds the two arrays of the index.
    name : str
        Name of the stream in the workspace.
    base, end : int
        The oldest slot in use, and the next slot to assign.
    seed : int
        Seed of the hash that chooses the bucket of a key.
    opened : bool
        Whether the workspace already holds the index.
    """

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        base: int,
        end: int,
        seed: int,
        *,
        opened: bool,
    ) -> None:
        self._workspace = workspace
        self._name = name
        self._seed = seed
        self.base = base
        self.end = end
        if opened:
            heads, entries = (
                workspace.array(f"{name}.{kind}") for kind in ("heads", "entries")
            )
            self.index = Index(heads, entries, seed)
        else:
            self.index = self._empty(slots_for(0, 0))

    @property
    def entries(self) -> IntArray:
        """Entries of all slots; each entry has ``STRIDE`` numbers."""
        return self.index.entries

    @property
    def nbytes(self) -> int:
        """Bytes of the index."""
        return self.index.heads.nbytes + self.index.entries.nbytes

    def insert(self, hot: Hot, first_slot: int | None = None) -> int:
        """Assign slots to rows, by default the next slots; return the first slot."""
        first = self.end if first_slot is None else first_slot
        if first > self.end:
            self.skip_to(first)
        self._fit(first + hot.key.size - self.base)
        link(hot.key, hot.time, first, self.index)
        self.end = first + hot.key.size
        return first

    def skip_to(self, end: int) -> None:
        """Skip slots whose runs were removed before, up to ``end``."""
        self._fit(end - self.base)
        self.bury(self.end, end - self.end)
        self.end = end

    def read(self, first_slot: int, rows: int) -> Hot:
        """Keys and times of a run of slots."""
        hot = Hot(*read_run(self.entries, first_slot, rows))
        hot.key.flags.writeable = False  # kernels are compiled for one type
        hot.time.flags.writeable = False
        return hot

    def times(self, slot: IntArray) -> IntArray:
        """Times of some slots."""
        return times_of(self.entries, slot)

    def hot(self, slot: IntArray) -> Hot:
        """Keys and times of some slots."""
        entry = self._entry(slot)
        return Hot(self.entries[entry], self.entries[entry + 1])

    def bury_each(self, slot: IntArray) -> None:
        """Make some slots unmatchable."""
        self.entries[self._entry(slot) + 1] = NEVER

    def _entry(self, slot: IntArray) -> IntArray:
        return STRIDE * (slot & (self.entries.size // STRIDE - 1))

    def bury(self, first_slot: int, rows: int) -> None:
        """Make a run of slots unmatchable."""
        bury(first_slot, rows, self.entries)

    def _empty(self, size: int) -> Index:
        heads, entries = (self._array(kind, size) for kind in ("heads", "entries"))
        return Index(heads, entries, self._seed)

    def _array(self, kind: str, size: int) -> IntArray:
        size *= STRIDE if kind == "entries" else 1
        array = self._workspace.new_array(f"{self._name}.{kind}", size)
        if kind == "heads":
            array.fill(NOWHERE)
        return array

    def _fit(self, span: int) -> None:
        capacity = self.entries.size // STRIDE
        size = slots_for(span, capacity)
        if size == capacity:
            return
        residents = self.read(self.base, self.end - self.base)
        self.index = self._empty(size)
        link(residents.key, residents.time, self.base, self.index)


def probed(
    ring: Ring,
    key: IntArray,
    low: IntArray,
    high: IntArray,
    room: int,
    *,
    in_order: bool,
) -> Iterator[tuple[IntArray, IntArray, int]]:
    """Yield matches: positions of rows, slots of their key, and a chain length.

    A slot matches if its time is from ``low`` to ``high`` of the row. About ``room``
    matches are yielded at once. The third value is the length of the longest chain that
    was walked. Yielded arrays are valid only until the next arrays are requested.

    The order in which matches are found also depends on removed residents that are
    still linked. If this order would decide which matches are in one batch, matches are
    sorted. So a step yields the same batches, whether its state was restored or not.
    """
    limits = fixed(key), fixed(low), fixed(high)
    pairs = Pairs.room(room)
    start, end = 0, key.size
    while start < end:
        found, after, steps = probe(*limits, start, ring.index, ring.base, pairs)
        row, slot = pairs.arrival[:found], pairs.slot[:found]
        if in_order or found > room:
            order = np.lexsort((slot, row))
            row, slot = row[order], slot[order]
        for first in range(0, found, room):
            part = slice(first, min(first + room, found))
            yield row[part], slot[part], steps
        if not found and after < end:
            pairs = pairs.doubled()  # one row has more than ``room`` matches
        start = after
