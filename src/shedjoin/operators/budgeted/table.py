"""The slot table of one shard: reads, changes and resizes it."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.clock import UNSEEN
from shedjoin.kernels.instants import INSTANT_ROWS
from shedjoin.kernels.slots import (
    ALIVE_BIT,
    DIRTY_BIT,
    NOBODY,
    SIZE_SHIFT,
    STREAM_BITS,
    Table,
    expire_until,
    link_free,
    pending,
    put_scores,
    read_slots,
    relink,
    vacate_all,
)
from shedjoin.operators.budgeted.layout import header_words, table_in, words_of
from shedjoin.operators.frame.limits import advanced
from shedjoin.policies.residents import Met, Residents
from shedjoin.state.workspace import Workspace
from shedjoin.types import FloatArray, IntArray, Record

_NAME = "table"
_OF_DETAILS = ("matches", "last_match", "importance", "chance", "coins")
Columns = dict[str, IntArray | FloatArray]


class SlotTable:
    """Residents of all streams, by slot.

    Parameters
    ----------
    workspace : Workspace
        Holds the arrays.
    streams : int
        Number of streams.
    seed : int
        Seed of the buckets of a new table.
    opened : bool
        Whether the workspace already holds the arrays.
    """

    def __init__(
        self,
        workspace: Workspace,
        streams: int,
        *,
        seed: int = 0,
        opened: bool = False,
    ) -> None:
        self._workspace = workspace
        self._streams = streams
        self.moved = False
        if opened:
            self._words = workspace.array(_NAME)
            self.table = table_in(self._words, streams)
        else:
            self.table = self._allocate(1)
            self.facts["bucket_seed"] = seed
            self.table.streams["latest"] = UNSEEN
            relink(np.zeros(0, np.int64), self.table)

    @property
    def size(self) -> int:
        """Number of slots."""
        return int(self.table.meta.size)

    @property
    def facts(self) -> Record:
        """Counts and clocks, as one record that can be written to."""
        return self.table.facts[0]

    @property
    def header(self) -> IntArray:
        """All facts of the table and of its streams, as they are stored."""
        return self._words[: header_words(self._streams)]

    @property
    def count(self) -> int:
        """Number of residents."""
        return int(self.facts["count"])

    @property
    def by_stream(self) -> IntArray:
        """Number of residents of each stream."""
        return self.table.streams["residents"].copy()

    @property
    def used(self) -> IntArray:
        """Size that the residents of each pool take from the budget."""
        return self.table.streams["used"]

    @property
    def oldest(self) -> int:
        """Lowest number of a resident; the next number if there is none."""
        numbers = self.numbers[self.alive()]
        return int(numbers.min()) if numbers.size else int(self.facts["next_number"])

    @property
    def numbers(self) -> IntArray:
        """Arrival number by slot."""
        return self.table.number

    @property
    def places(self) -> IntArray:
        """Place of the row by slot."""
        return self.table.residents["place"]

    @property
    def clock_us(self) -> int:
        """The clock of shedding (see ``shedjoin.operators.frame.limits.advanced``)."""
        return int(self.facts["clock"])

    def clock_with(self, time: int, stream: int) -> int:
        """The clock as it will be after an arrival with this time and stream."""
        latest: list[int] = self.table.streams["latest"].tolist()
        latest[stream] = max(latest[stream], time)
        lead = int(self.facts["lead"])
        return advanced(self.clock_us, latest, min(latest), lead)

    @property
    def has_coins(self) -> bool:
        """Whether any resident still has coins that were tossed on its arrival."""
        return bool(self.table.details["coins"][self.alive()].any())

    def start(self, first_us: int, watermark_us: int, window_us: int) -> bool:
        """Begin a micro-batch; return whether its first arrival has set the clock.

        ``first_us`` is the time of the first arrival, which is the earliest of the
        micro-batch. The very first arrival sets the clock, and the time that every
        stream has reached. But this arrival may have a time in the future. So, until
        all streams have had rows, an arrival more than a window before the clock sets
        clock and times again. All streams count as having reached the watermark.
        """
        facts, latest = self.facts, self.table.streams["latest"]
        all_seen = facts["seen"] == (1 << self._streams) - 1
        first = bool((latest == UNSEEN).all())
        begins = first or bool(not all_seen and first_us < self.clock_us - window_us)
        if begins:
            latest[:] = first_us
            facts["clock"] = first_us
            facts["lead"] = window_us // 4
            facts["measured_at"] = first_us
            self.table.streams["arrived"] = 0
        np.maximum(latest, watermark_us, out=latest)
        facts["clock"] = max(self.clock_us, watermark_us)
        return begins

    def alive(self) -> IntArray:
        """Slots of all residents."""
        return np.flatnonzero(self.table.meta & ALIVE_BIT)

    def dirty(self) -> IntArray:
        """Slots that changed since :meth:`clean`."""
        return np.flatnonzero(self.table.meta & DIRTY_BIT)

    def clean(self) -> None:
        """Mark all slots as stored."""
        self.moved = False
        self.table.meta[:] &= ~DIRTY_BIT

    def touch(self, slots: IntArray) -> None:
        """Mark slots as changed."""
        self.table.meta[slots] |= DIRTY_BIT

    def stream(self, slots: IntArray) -> IntArray:
        """Stream of the resident of each slot."""
        return self.table.meta[slots] & STREAM_BITS

    def sizes(self, slots: IntArray) -> IntArray:
        """Size that the resident of each slot takes from the budget."""
        size: IntArray = self.table.meta[slots] >> SIZE_SHIFT
        return size

    def residents(
        self, slots: IntArray, keep_us: tuple[int, ...], decay: float | None
    ) -> Residents:
        """Residents in the form that a policy reads, with the present clock.

        If ``decay`` is None, the counts of their matches are left out.
        """
        stream, key, time, number = (np.empty(slots.size, np.int64) for _ in range(4))
        read_slots(slots, self.table, stream, key, time, number)
        valued = bool(self.facts["valued"])
        return Residents(
            stream=stream,
            key=key,
            time=time,
            number=number,
            importance=self.table.details["importance"][slots]
            if valued
            else np.broadcast_to(np.inf, slots.shape),
            size=self.sizes(slots),
            now_us=self.clock_us,
            keep_us=keep_us,
            met=None if decay is None else self._met(slots, decay),
        )

    def rescore(self, slots: IntArray, score: FloatArray) -> None:
        """Set the scores of residents."""
        put_scores(slots, score, self.table)

    def _met(self, slots: IntArray, decay: float) -> Met:
        """Faded matches of residents, and the matches foreseen in this instant."""
        details = self.table.details
        last, matches = details["last_match"][slots], details["matches"][slots]
        if decay:
            matches = matches * np.exp(-decay * np.maximum(0, self.clock_us - last))
        foreseen = details["foreseen"][slots]
        instant = np.maximum(last, self.facts["instant"])
        return Met(matches + foreseen, np.where(foreseen > 0, instant, last))

    def expire(self, horizon: tuple[int, ...], *, pooled: bool) -> IntArray:
        """Remove residents with times up to the horizon of their stream; count them."""
        count = np.zeros(self._streams, np.int64)
        expire_until(horizon, int(pooled), self.table, count)
        return count

    def pending(self, rows: int) -> IntArray:
        """Slot of each of the last ``rows`` arrivals; ``NOBODY`` if it has none."""
        slots = np.full(rows, NOBODY)
        pending(int(self.facts["next_number"]) - rows, self.table, slots)
        return slots

    def vacate(self, slots: IntArray, *, pooled: bool) -> None:
        """Remove the residents of some slots."""
        vacate_all(slots, int(pooled), self.table)

    def resize(self, size: int) -> None:
        """Move all residents, oldest first, to a new table with ``size`` slots."""
        old, header = self.table, self.header.copy()
        alive = self._by_age()
        self.table = self._allocate(size)
        self.header[:] = header
        for new_part, old_part in zip(self.table[3:], old[3:], strict=True):
            new_part[: alive.size] = old_part[alive]
        self.table.meta[:] |= DIRTY_BIT
        self.moved = True
        relink(np.arange(alive.size), self.table)

    def grow(self) -> None:
        """Add slots: a quarter of their number, and ``INSTANT_ROWS`` more."""
        self.resize(self.size + self.size // 4 + INSTANT_ROWS)

    def hot(self, slots: IntArray) -> Columns:
        """Columns to store for some slots."""
        residents, details = self.table.residents[slots], self.table.details[slots]
        return {
            "slot": slots,
            "meta": self.table.meta[slots] & ~DIRTY_BIT,
            "score": self.table.score[slots],
            "key": residents["key"],
            "time": residents["time"],
            "number": self.table.number[slots],
            "place": residents["place"],
            **{name: details[name] for name in _OF_DETAILS},
        }

    def put(self, hot: Columns) -> None:
        """Fill slots from stored columns; :meth:`finish` then links them."""
        slots = hot["slot"].astype(np.int64)
        self.table.meta[slots] = hot["meta"]
        self.table.score[slots] = hot["score"]
        self.table.number[slots] = hot["number"]
        for name in ("key", "time", "place"):
            self.table.residents[name][slots] = hot[name]
        for name in _OF_DETAILS:
            self.table.details[name][slots] = hot[name]

    def order_free_slots(self) -> None:
        """Link free slots in ascending order.

        The order of free slots decides where the next arrivals are put, but it is not
        stored. With this order, a restored table and a table that stayed in memory put
        the next arrivals into the same slots.
        """
        link_free(self.table)

    def set_sizes(self, slots: IntArray, size: IntArray, *, pooled: bool) -> None:
        """Set the sizes that residents take from the budget."""
        bits = self.table.meta[slots] & ((1 << SIZE_SHIFT) - 1)
        self.table.meta[slots] = (size << SIZE_SHIFT) | bits | DIRTY_BIT
        self._count_used(pooled=pooled)

    def set_importance(self, slots: IntArray, importance: FloatArray) -> None:
        """Set the importance of residents."""
        self.table.details["importance"][slots] = importance
        self.facts["valued"] = 1
        self.touch(slots)

    def finish(self, *, pooled: bool) -> None:
        """Link all residents, oldest first, and sum up their sizes by pool."""
        relink(self._by_age(), self.table)
        self._count_used(pooled=pooled)

    def _by_age(self) -> IntArray:
        alive = self.alive()
        return alive[np.argsort(self.numbers[alive])]

    def _count_used(self, *, pooled: bool) -> None:
        alive = self.alive()
        pool = self.stream(alive) * (not pooled)
        used = np.bincount(pool, self.sizes(alive), minlength=self._streams)
        self.used[:] = used

    def _allocate(self, size: int) -> Table:
        words = words_of(max(1, size), self._streams)
        self._words = self._workspace.new_array(_NAME, words)
        return table_in(self._words, self._streams)
