"""The slot table of one shard, in a workspace."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shedjoin.kernels.slots import (
    ALIVE_BIT,
    ARRIVED,
    CLOCK,
    COUNT,
    DIRTY_BIT,
    KEY,
    LAST,
    LATEST,
    LEAD,
    MATCHES,
    MEASURED,
    NEXT_NUMBER,
    NOBODY,
    NUMBER,
    PLACE,
    RIGHTS,
    SCALARS,
    SEED,
    SIDE_BIT,
    SIDES_SEEN,
    SIZE_SHIFT,
    SLOTS,
    TIME,
    UNSEEN,
    USED,
    VALUED,
    WORDS,
    expire_until,
    link_free,
    pending,
    relink,
    vacate_all,
)
from shedjoin.kernels.stages import GROUP_ROWS, Table
from shedjoin.policies.base import Residents
from shedjoin.state.workspace import Workspace
from shedjoin.types import FloatArray, IntArray

SLOT_BYTES = 8 * (2 + WORDS + 5)
_BOTH_SIDES = 0b11
_COLUMNS = ("score", "importance", "meta", "chance", "coins")
_LOGGED = {"key": KEY, "time": TIME, "place": PLACE, "last": LAST, "number": NUMBER}


class SlotTable:
    """Residents of both sides, by slot.

    Parameters
    ----------
    workspace : Workspace
        Holds the arrays.
    seed : int
        Of the buckets of a new table.
    opened : bool
        The workspace already holds them.
    """

    def __init__(
        self, workspace: Workspace, *, seed: int = 0, opened: bool = False
    ) -> None:
        self._workspace = workspace
        self.moved = False
        if opened:
            words = workspace.array("table.words")
            columns = [workspace.array(f"table.{name}") for name in _COLUMNS]
            self.table = _bundle(words, *columns)
        else:
            self.table = self._allocate(1)
            self.scalars[SEED] = seed
            self.scalars[LATEST : LATEST + 2] = UNSEEN
            relink(np.zeros(0, np.int64), self.table.words, self.table.meta)

    @property
    def size(self) -> int:
        """Slots there are."""
        return int(self.table.meta.size)

    @property
    def count(self) -> int:
        """Residents there are."""
        return int(self.table.words[COUNT])

    @property
    def sides(self) -> tuple[int, int]:
        """Residents of each side."""
        right = int(self.table.words[RIGHTS])
        return self.count - right, right

    @property
    def oldest(self) -> int:
        """The lowest number of a resident; that of the next one if there is none."""
        numbers = self.column(NUMBER)[self.alive()]
        return int(numbers.min()) if numbers.size else int(self.scalars[NEXT_NUMBER])

    @property
    def clock_us(self) -> int:
        """Greatest event time seen, as far as both streams bear it out."""
        return int(self.table.words[CLOCK])

    def clock_with(self, time: int, side: int) -> int:
        """Tell the clock as it will be after an arrival (see ``clock_after``)."""
        latest: list[int] = self.scalars[LATEST : LATEST + 2].tolist()
        latest[side] = max(latest[side], time)
        reached = min(latest) + int(self.scalars[LEAD])
        return max(self.clock_us, min(max(latest), reached))

    @property
    def has_coins(self) -> bool:
        """Whether a resident still has coins of its own."""
        return bool(self.table.coins[self.alive()].any())

    def start(self, first_us: int, watermark_us: int, window_us: int) -> bool:
        """Begin a micro-batch; tell whether all there is to know of times begins, too.

        Both streams have reached the watermark. The first arrival speaks for both: it
        is the earliest of its micro-batch. As long as one stream is silent, an earlier
        one takes its place: the first may have been a row from the future.
        """
        scalars, latest = self.scalars, self.scalars[LATEST : LATEST + 2]
        both = scalars[SIDES_SEEN] == _BOTH_SIDES
        first = bool((latest == UNSEEN).all())
        begins = first or bool(not both and first_us < self.clock_us - window_us)
        if begins:
            latest[:] = first_us
            scalars[CLOCK] = first_us
            scalars[LEAD] = window_us // 4
            scalars[MEASURED] = first_us
            scalars[ARRIVED : ARRIVED + 2] = 0
        np.maximum(latest, watermark_us, out=latest)
        scalars[CLOCK] = max(self.clock_us, watermark_us)
        return begins

    @property
    def scalars(self) -> IntArray:
        """Counts, clocks and the like, by their names in the kernels."""
        return self.table.words[:SCALARS]

    def column(self, word: int) -> IntArray:
        """One word of all records."""
        return self.table.words[SCALARS + 2 * self.size + word :: WORDS]

    @property
    def matches(self) -> FloatArray:
        """Matches of all slots."""
        return self.table.reals[SCALARS + 2 * self.size + MATCHES :: WORDS]

    def alive(self) -> IntArray:
        """Slots of all residents."""
        return np.flatnonzero(self.table.meta & ALIVE_BIT)

    def dirty(self) -> IntArray:
        """Slots that changed since :meth:`clean`."""
        return np.flatnonzero(self.table.meta & DIRTY_BIT)

    def clean(self) -> None:
        """Take all slots as stored."""
        self.moved = False
        self.table.meta[:] &= ~DIRTY_BIT

    def touch(self, slots: IntArray) -> None:
        """Take slots as changed."""
        self.table.meta[slots] |= DIRTY_BIT

    def side(self, slots: IntArray) -> IntArray:
        """Side of residents."""
        return self.table.meta[slots] & SIDE_BIT

    def residents(
        self, slots: IntArray, keep_us: tuple[int, ...], decay: float | None
    ) -> Residents:
        """Residents as a policy sees them, now.

        Without a decay, nobody counts matches.
        """
        time = self.column(TIME)[slots]
        last, matches = time, np.broadcast_to(0.0, slots.shape)
        if decay is not None:
            last, matches = self.column(LAST)[slots], self.matches[slots]
        if decay:
            matches = matches * np.exp(-decay * np.maximum(0, self.clock_us - last))
        valued = bool(self.scalars[VALUED])
        return Residents(
            side=self.side(slots),
            key=self.column(KEY)[slots],
            time=time,
            number=self.column(NUMBER)[slots],
            importance=self.table.importance[slots]
            if valued
            else np.broadcast_to(np.inf, slots.shape),
            matches=matches,
            last_match=last,
            now_us=self.clock_us,
            keep_us=keep_us,
        )

    def expire(self, horizon: tuple[int, int], *, pooled: bool) -> IntArray:
        """Let all residents up to a time go, by side; tell how many."""
        count = np.zeros(2, np.int64)
        expire_until(horizon, int(pooled), self.table.words, self.table.meta, count)
        return count

    def pending(self, rows: int) -> IntArray:
        """Slot of each arrival whose payload is not stored yet, or NOBODY."""
        slots = np.full(rows, NOBODY)
        pending(self.table.words, self.table.meta, slots)
        return slots

    def vacate(self, slots: IntArray, *, pooled: bool) -> None:
        """Let residents go."""
        vacate_all(slots, int(pooled), self.table.words, self.table.meta)

    def resize(self, size: int) -> None:
        """Move all residents to the first slots of a table of that size, by age."""
        old, alive = self.table, self.alive()
        alive = alive[np.argsort(self.column(NUMBER)[alive])]
        records = self._records()[alive]
        self.table = self._allocate(size)
        self.scalars[:] = old.words[:SCALARS]
        self.scalars[SLOTS] = self.size
        self._records()[: alive.size] = records
        for name in _COLUMNS:
            getattr(self.table, name)[: alive.size] = getattr(old, name)[alive]
        self.table.meta[:] |= DIRTY_BIT
        self.moved = True
        relink(np.arange(alive.size), self.table.words, self.table.meta)

    def grow(self) -> None:
        """Add slots: a quarter more, and at least a group of arrivals."""
        self.resize(self.size + self.size // 4 + GROUP_ROWS)

    def hot(self, slots: IntArray) -> dict[str, IntArray | FloatArray]:
        """All that has to be stored of some slots."""
        logged: dict[str, IntArray | FloatArray] = {
            name: self.column(word)[slots] for name, word in _LOGGED.items()
        }
        return logged | {
            "slot": slots,
            "meta": self.table.meta[slots] & ~DIRTY_BIT,
            "matches": self.matches[slots],
            "importance": self.table.importance[slots],
            "score": self.table.score[slots],
            "chance": self.table.chance[slots],
            "coins": self.table.coins[slots],
        }

    def put(self, hot: dict[str, IntArray | FloatArray]) -> None:
        """Fill slots with what was stored; :meth:`finish` links them."""
        slots = hot["slot"].astype(np.int64)
        self.table.meta[slots] = hot["meta"]
        for name, word in _LOGGED.items():
            self.column(word)[slots] = hot[name]
        self.matches[slots] = hot["matches"]
        self.table.importance[slots] = hot["importance"]
        self.table.score[slots] = hot["score"]
        self.table.chance[slots] = hot["chance"]
        self.table.coins[slots] = hot["coins"]

    def order_free_slots(self) -> None:
        """Link free slots in ascending order, however they became free.

        The order decides where the next arrivals go. It is not stored: a table that
        was restored, and one that went on in memory, have to have the same.
        """
        link_free(self.table.words, self.table.meta)

    def set_sizes(self, slots: IntArray, size: IntArray, *, pooled: bool) -> None:
        """Say what residents take from the budget."""
        bits = self.table.meta[slots] & ((1 << SIZE_SHIFT) - 1)
        self.table.meta[slots] = (size << SIZE_SHIFT) | bits | DIRTY_BIT
        self._count_used(pooled=pooled)

    def finish(self, *, pooled: bool) -> None:
        """Link all residents, oldest first, and count what they use."""
        alive = self.alive()
        alive = alive[np.argsort(self.column(NUMBER)[alive])]
        relink(alive, self.table.words, self.table.meta)
        self._count_used(pooled=pooled)

    def _count_used(self, *, pooled: bool) -> None:
        alive = self.alive()
        size = self.table.meta[alive] >> SIZE_SHIFT
        side = self.side(alive) * (not pooled)
        for pool in (0, 1):
            self.scalars[USED + pool] = int(size[side == pool].sum())

    def _records(self) -> npt.NDArray[np.int64]:
        return self.table.words[SCALARS + 2 * self.size :].reshape(-1, WORDS)

    def _allocate(self, size: int) -> Table:
        size = max(1, size)
        words = self._workspace.new_array("table.words", SCALARS + (2 + WORDS) * size)
        words[SLOTS] = size
        columns = [self._workspace.new_array(f"table.{n}", size) for n in _COLUMNS]
        return _bundle(words, *columns)


def _bundle(
    words: IntArray,
    score: IntArray,
    importance: IntArray,
    meta: IntArray,
    chance: IntArray,
    coins: IntArray,
) -> Table:
    return Table(
        words=words,
        reals=words.view(np.float64),
        score=score.view(np.float64),
        importance=importance.view(np.float64),
        meta=meta,
        chance=chance.view(np.float64),
        coins=coins,
    )
