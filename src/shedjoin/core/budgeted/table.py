"""The slot table of one shard, in a workspace."""

from __future__ import annotations

import numpy as np

from shedjoin.core.policy import Residents
from shedjoin.core.workspace import Workspace
from shedjoin.kernels.rounds import GROUP_ROWS
from shedjoin.kernels.slots import (
    ALIVE_BIT,
    CLOCK,
    COUNT,
    DIRTY_BIT,
    KEY,
    LAST,
    MATCHES,
    NUMBER,
    PLACE,
    SCALARS,
    SIDE_BIT,
    SIZE_SHIFT,
    TIME,
    USED,
    WORDS,
    Slots,
    relink,
    vacate_all,
)
from shedjoin.types import FloatArray, IntArray

SLOT_BYTES = 8 * (2 + WORDS + 3)
_SIZES = {"heads": 2, "records": WORDS, "score": 1, "importance": 1, "meta": 1}
HOT = ("slot", "meta", "key", "time", "place", "last", "number")
HOT_REALS = ("matches", "importance", "score")


class SlotTable:
    """Residents of both sides, by slot.

    Parameters
    ----------
    workspace : Workspace
        Holds the arrays.
    opened : bool
        The workspace already holds them.
    """

    def __init__(self, workspace: Workspace, *, opened: bool = False) -> None:
        self._workspace = workspace
        if opened:
            arrays = {name: workspace.array(f"table.{name}") for name in _SIZES}
            self.slots = _bundle(arrays, workspace.array("table.scalars"))
        else:
            scalars = workspace.new_array("table.scalars", SCALARS)
            self.slots = self._allocate(0, scalars)
            relink(np.zeros(0, np.int64), self.slots)

    @property
    def size(self) -> int:
        """Slots there are."""
        return int(self.slots.meta.size)

    @property
    def count(self) -> int:
        """Residents there are."""
        return int(self.slots.scalars[COUNT])

    @property
    def clock_us(self) -> int:
        """Greatest event time seen."""
        return int(self.slots.scalars[CLOCK])

    def column(self, word: int) -> IntArray:
        """One word of all records."""
        return self.slots.records[word::WORDS]

    def alive(self) -> IntArray:
        """Slots of all residents."""
        return np.flatnonzero(self.slots.meta & ALIVE_BIT)

    def dirty(self) -> IntArray:
        """Slots that changed since :meth:`clean`."""
        return np.flatnonzero(self.slots.meta & DIRTY_BIT)

    def clean(self) -> None:
        """Take all slots as stored."""
        self.slots.meta[:] &= ~DIRTY_BIT

    def touch(self, slots: IntArray) -> None:
        """Take slots as changed."""
        self.slots.meta[slots] |= DIRTY_BIT

    def side(self, slots: IntArray) -> IntArray:
        """Side of residents."""
        return self.slots.meta[slots] & SIDE_BIT

    def residents(
        self, slots: IntArray, keep_us: tuple[int, int], decay: float
    ) -> Residents:
        """Residents as a policy sees them, now."""
        last = self.column(LAST)[slots]
        matches = self.slots.reals[MATCHES::WORDS][slots]
        if decay > 0.0:
            matches = matches * np.exp(-decay * np.maximum(0, self.clock_us - last))
        return Residents(
            side=self.side(slots),
            key=self.column(KEY)[slots],
            time=self.column(TIME)[slots],
            number=self.column(NUMBER)[slots],
            importance=self.slots.importance[slots],
            matches=matches,
            last_match=last,
            now_us=self.clock_us,
            keep_us=keep_us,
        )

    def vacate(self, slots: IntArray, *, pooled: bool) -> None:
        """Let residents go."""
        vacate_all(slots, int(pooled), self.slots)

    def resize(self, size: int) -> None:
        """Move all residents to the first slots of a table of that size, by age."""
        old, alive = self.slots, self.alive()
        alive = alive[np.argsort(self.column(NUMBER)[alive])]
        self.slots = new = self._allocate(size, old.scalars)
        rows = alive.size
        new.records.reshape(-1, WORDS)[:rows] = old.records.reshape(-1, WORDS)[alive]
        for name in ("score", "importance", "meta"):
            getattr(new, name)[:rows] = getattr(old, name)[alive]
        new.meta[:] |= DIRTY_BIT
        relink(np.arange(rows), new)

    def grow(self) -> None:
        """Add slots: a quarter more, and at least a group of arrivals."""
        self.resize(self.size + self.size // 4 + GROUP_ROWS)

    def hot(self, slots: IntArray) -> dict[str, IntArray | FloatArray]:
        """All that has to be stored of some slots."""
        table = self.slots
        return {
            "slot": slots,
            "meta": table.meta[slots] & ~DIRTY_BIT,
            "key": self.column(KEY)[slots],
            "time": self.column(TIME)[slots],
            "place": self.column(PLACE)[slots],
            "last": self.column(LAST)[slots],
            "number": self.column(NUMBER)[slots],
            "matches": table.reals[MATCHES::WORDS][slots],
            "importance": table.importance[slots],
            "score": table.score[slots],
        }

    def put(self, hot: dict[str, IntArray | FloatArray]) -> None:
        """Fill slots with what was stored; :meth:`finish` links them."""
        slots = hot["slot"].astype(np.int64)
        self.slots.meta[slots] = hot["meta"]
        for name, word in (
            ("key", KEY),
            ("time", TIME),
            ("place", PLACE),
            ("last", LAST),
            ("number", NUMBER),
        ):
            self.column(word)[slots] = hot[name]
        self.slots.reals[MATCHES::WORDS][slots] = hot["matches"]
        self.slots.importance[slots] = hot["importance"]
        self.slots.score[slots] = hot["score"]

    def finish(self, *, pooled: bool) -> None:
        """Link all residents, oldest first, and count what they use."""
        alive = self.alive()
        alive = alive[np.argsort(self.column(NUMBER)[alive])]
        relink(alive, self.slots)
        size = self.slots.meta[alive] >> SIZE_SHIFT
        side = self.side(alive) * (not pooled)
        for pool in (0, 1):
            self.slots.scalars[USED + pool] = int(size[side == pool].sum())

    def _allocate(self, size: int, scalars: IntArray) -> Slots:
        arrays = {
            name: self._workspace.new_array(f"table.{name}", words * max(1, size))
            for name, words in _SIZES.items()
        }
        return _bundle(arrays, scalars)


def _bundle(arrays: dict[str, IntArray], scalars: IntArray) -> Slots:
    return Slots(
        heads=arrays["heads"],
        records=arrays["records"],
        reals=arrays["records"].view(np.float64),
        score=arrays["score"].view(np.float64),
        importance=arrays["importance"].view(np.float64),
        meta=arrays["meta"],
        scalars=scalars,
    )
