"""All that one shard learns: frequencies, curves, rates, and its own recall."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.priorities import Rates, read_priorities
from shedjoin.kernels.rates import read_table
from shedjoin.models.curve import AGES, Curve, Table, level_of, priorities
from shedjoin.models.frequency import Frequency
from shedjoin.models.monitored import Ghosts, Slice
from shedjoin.models.sampling import (
    Outlook,
    Rows,
    matches_so_far,
    outlook,
    pps_sizes,
)
from shedjoin.models.unlimited import Since, Unlimited
from shedjoin.models.words import Shape, cut, reals, size_of
from shedjoin.models.worth import Worth
from shedjoin.types import BoolArray, FloatArray, IntArray

_SMALLEST, _LARGEST = 1 << 8, 1 << 13
_TICKS = 64
EVIDENCE_WINDOWS = 4
_FIRST, _TICK, _NOW = range(3)
"""Clocks: the first arrival, the last tick, and the last arrival."""


class Models:
    """The models of one shard.

    Parameters
    ----------
    keep_us : tuple of int
        How long a row of each stream can be matched.
    capacity_rows : int
        About how many residents the shard may have; the models' room follows it.
    samples : bool
        Also learn which sample of the join tells most.
    words : array, optional
        What was learned before, as many words as :meth:`words_of` tells; the models
        work in it. All zero: nothing yet.
    """

    def __init__(
        self,
        keep_us: tuple[int, ...],
        capacity_rows: int,
        *,
        samples: bool = False,
        words: IntArray | None = None,
    ) -> None:
        window = max(1, *keep_us)
        self.keep_us = keep_us
        self._streams = range(len(keep_us))
        self.capacity_rows = float(capacity_rows)
        self._samples = samples
        if words is None:
            words = np.zeros(self.words_of(capacity_rows, len(keep_us)), np.int64)
        shapes = _shapes(capacity_rows, len(keep_us))
        frequency, curve, worth, monitored, own = shapes
        self.words = words
        room = iter(cut(words, (*frequency, *curve, *worth, *monitored, *own)))
        self.frequency = Frequency([next(room) for _ in frequency], window)
        half_life = EVIDENCE_WINDOWS * window
        self.curve = Curve([next(room) for _ in curve], keep_us, half_life)
        self.worth = Worth([next(room) for _ in worth])
        self.slice = Slice([next(room) for _ in monitored], keep_us)
        self._clocks, outlook, pairs = room
        self._outlook = reals(outlook)
        self.unlimited = Unlimited(pairs, keep_us, self.frequency)
        self._counted_us = 0
        self.begin_count()
        self._by_age: Table | None = None  # until the next tick
        self._by_level: Table | None = None
        self._lives: Table | None = None

    @staticmethod
    def words_of(capacity_rows: int, streams: int) -> int:
        """Words that the models of a shard with so many residents take."""
        return sum(map(size_of, _shapes(capacity_rows, streams)))

    def begin_count(self) -> None:
        """Begin to count what an unlimited join would find."""
        self.seen_matches = 0.0
        self.seen_pairs = 0
        self.unlimited.begin()

    def exact_matches(self, matched: float, monitored: float) -> tuple[float, float]:
        """Matches of an unlimited join since counting began, and those that were found.

        ``matched`` were found in all, ``monitored`` of them by the monitored keys
        alone. Where a few keys have most matches, those that are monitored may have
        hardly any; so if keys are counted, their counts tell.
        """
        if self.slice.share == 1.0 or not self.unlimited.expected:
            return self.seen_matches, monitored
        return self.unlimited.matches, matched

    @property
    def clock_us(self) -> int:
        """Time up to which arrivals were seen."""
        return int(self._clocks[_NOW])

    def begin(self, first_us: int) -> None:
        """Start the clocks: the first arrival comes now."""
        self._clocks[:] = first_us

    def observe(
        self,
        stream: IntArray,
        key: IntArray,
        time: IntArray,
        importance: FloatArray | None = None,
        *,
        clock_us: int | None = None,
        watched: BoolArray | None = None,
        learn: bool = True,
    ) -> None:
        """Learn from arrivals of all streams, in their order.

        The clock after them is the greatest of their times if none is told; a row after
        it counts as if it came then. ``watched`` is what :meth:`make_room` told of
        these arrivals, if it was asked before. Without ``learn`` only the monitored
        slice is kept up: it estimates the recall.

        The first arrivals of all are learned from in parts, each about as many as those
        before it: as long as no key was counted, all keys look rare, and what rows of
        frequent keys matched would be taken for what rare ones do.
        """
        if clock_us is None:
            clock_us = int(time.max())
        if not self._clocks[_FIRST]:
            self._clocks[[_FIRST, _TICK]] = min(int(time[0]), clock_us)
        if watched is None:
            watched = self.make_room(stream, key)
        half = key.size // 2
        if learn and half and not self.frequency.totals.any():
            reached = min(clock_us, int(time[:half].max()))
            for part, clock in ((slice(half), reached), (slice(half, None), clock_us)):
                self.observe(
                    stream[part],
                    key[part],
                    time[part],
                    None if importance is None else importance[part],
                    clock_us=clock,
                    watched=watched[part],
                )
            return
        before = self.clock_us or min(int(time[0]), clock_us)
        self._counted_us = before
        self._clocks[_NOW] = max(before, clock_us)
        pairs = self.seen_pairs
        if learn:
            self.unlimited.expect(stream, key, watched, self._since(before))
        mine = [np.flatnonzero(stream == own) for own in self._streams]
        for own, rows in enumerate(mine):
            seen = rows[watched[rows]]
            self._watch(own, key[seen], time[seen], learn=learn)
        if learn:
            self.unlimited.count(self.seen_pairs - pairs)
            if importance is not None:
                self.worth.add(stream, importance, self.faded(before))
            self._tick()
            self._count(mine, key, time)

    def _count(self, mine: list[IntArray], key: IntArray, time: IntArray) -> None:
        """Count the keys of arrivals, whose rows are given by stream."""
        for own, rows in enumerate(mine):
            counted = np.minimum(time[rows], self.clock_us)
            self.frequency.add(own, key[rows], counted, self.clock_us)

    def faded(self, since_us: int) -> float:
        """What a count has faded to that was one then."""
        return self.frequency.faded(self.clock_us - since_us)

    def _since(self, clock_us: int) -> Since:
        """Time until then, and since."""
        return Since(clock_us, self._passed(clock_us), self.clock_us - clock_us)

    def make_room(self, stream: IntArray, key: IntArray) -> BoolArray:
        """Monitor fewer keys if coming arrivals would be too many ghosts.

        Tells which arrivals are monitored.
        """
        while True:
            watched = self.slice.monitored(key)
            coming = np.bincount(stream[watched], minlength=len(self.keep_us))
            if self.slice.has_room(coming, self.clock_us):
                return watched

    def partner_count(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Decayed count of each row's key on the other stream.

        Counts of several other streams multiply.
        """
        passed = self._passed(self.clock_us)
        return self.frequency.of_partners(stream, key, self.clock_us, passed)[1]

    def rate(self, stream: int) -> float:
        """Arrivals of a stream per second, lately."""
        passed = max(1, self.clock_us - int(self._clocks[_FIRST]))
        faded = self.frequency.half_life_us / np.log(2.0)
        seconds = faded * -np.expm1(-passed / faded) * 1e-6
        return float(self.frequency.total(stream, self.clock_us) / seconds)

    def priority_by_age(self, stream: IntArray, age_us: IntArray) -> FloatArray:
        """Best mean rate of results from its age on, whatever the key."""
        if self._by_age is None:
            self._by_age = priorities(self.curve.by_age())[:, None, :].copy()
        level = np.zeros(stream.size, np.int64)
        return self._pick(self._by_age, stream, level, age_us)

    def priority(self, stream: IntArray, key: IntArray, age_us: IntArray) -> FloatArray:
        """Best mean rate of results from its age on, for its key's frequency."""
        if self._by_level is None:
            self._by_level = priorities(self._rates())
        slow, best = self._counted(stream, key, self.clock_us)
        rates, found = Rates(self._by_level, self._ages_per_us), np.empty(stream.size)
        bits = self._typical(slow).view(np.int64)
        read_priorities(stream, slow, best, bits, age_us, rates, found)
        return found

    def expected_matches(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Matches that a new row will have in all its life."""
        if self._lives is None:
            self._lives = self._rates().sum(axis=2) * self._spans[:, None]
        level, news = self._known(stream, key)
        return news * self._lives[stream, level]

    def matches_per_arrival(self, key: IntArray) -> FloatArray:
        """Matches of a new row of a key, on average over both streams as it comes."""
        first, second = (np.full(key.size, own, np.int64) for own in self._streams)
        came = self.partner_count(second, key), self.partner_count(first, key)
        total = came[0] + came[1]
        found = came[0] * self.expected_matches(first, key)
        found += came[1] * self.expected_matches(second, key)
        return np.divide(found, total, out=np.zeros(key.size), where=total > 0)

    def cluster_sizes(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Expected matches of new rows, 1 on average, as PPS-CLUSTER takes them."""
        return pps_sizes(self.expected_matches(stream, key), self._mean_matches())

    def _mean_matches(self) -> float:
        """Matches of a row of any stream in all its life, on average; 0 if unknown."""
        rates = self.curve.by_age().sum(axis=1) * self._spans
        rows = self.curve.seconds.sum(axis=(1, 2))
        return float(rates @ rows / max(rows.sum(), 1e-30))

    @property
    def outlook(self) -> Outlook:
        """What a sample of the join can reach."""
        known, fraction, *variance = self._outlook.tolist()
        if not known:
            return Outlook(1.0, (0.0, 0.0, 0.0))
        return Outlook(fraction, (variance[0], variance[1], variance[2]))

    def mean_worth(self, stream: IntArray, importance: FloatArray) -> FloatArray:
        """Mean importance of a result with each row."""
        return self.worth.mean(stream, importance)

    def _watch(
        self, stream: int, key: IntArray, time: IntArray, *, learn: bool
    ) -> None:
        key.flags.writeable = False
        time.flags.writeable = False
        seen = self.slice.meet(stream, key, time)
        self.seen_pairs += seen.key.size
        self.seen_matches += seen.key.size / self.slice.share
        if learn:
            level = self._levels(seen.stream, seen.key)
            self.curve.add_matches(seen.stream, level, seen.age_us)
        self.slice.add(stream, key, time)

    def _tick(self) -> None:
        passed = self.clock_us - int(self._clocks[_TICK])
        if passed * _TICKS < max(1, *self.keep_us):
            return
        self._by_age = self._by_level = self._lives = None
        self.curve.tick(passed)
        for stream, keep in enumerate(self.keep_us):
            ghosts = self.slice.ghosts(stream)
            last_tick = self._clocks[_TICK]
            there = np.flatnonzero(ghosts.time + keep >= last_tick)
            key, time = ghosts.key[there], ghosts.time[there]
            level = self._levels(np.full(key.size, stream, np.int64), key)
            self.curve.add_time(stream, level, last_tick - time, self.clock_us - time)
        self._clocks[_TICK] = self.clock_us
        if self._samples:
            self._judge_samples()

    def _judge_samples(self) -> None:
        """Judge samples anew, on the rows of the slice that have not expired."""
        parts = []
        for stream in self._streams:
            mine, theirs = self.slice.ghosts(stream), self.slice.others(stream)
            keep = max(1, self.keep_us[stream])
            lived = np.maximum(0, self.clock_us - mine.time) / keep
            there = lived <= 1.0
            mine = Ghosts(mine.key[there], mine.time[there])
            own = np.full(mine.key.size, stream)
            met = matches_so_far(mine, theirs, keep)
            expected = self.expected_matches(own, mine.key)
            parts.append(Rows(expected, met, lived[there]))
        rows = Rows(*map(np.concatenate, zip(*parts, strict=True)))
        share = self._row_share(rows.expected.size)
        found = outlook(rows, share, self.capacity_rows)
        self._outlook[:] = 1.0, found.fraction, *found.variance

    def _row_share(self, rows: int) -> float:
        """Part of all rows that is monitored: of keys it says little if few are hot."""
        if self.slice.share == 1.0:
            return 1.0
        there = self.rows_in_window()
        return min(1.0, rows / there) if there else 1.0

    def rows_in_window(self) -> float:
        """Rows that have come lately and have not expired, of all streams."""
        passed = self.clock_us - int(self._clocks[_FIRST])
        return sum(
            self.rate(stream) * min(keep, passed) * 1e-6
            for stream, keep in enumerate(self.keep_us)
        )

    @property
    def _spans(self) -> FloatArray:
        """Seconds of an age, by stream."""
        return np.array(self.keep_us) * (1e-6 / AGES)

    def _levels(self, stream: IntArray, key: IntArray) -> IntArray:
        """Levels as they were read when the rows came: before they were counted.

        Counts of that time, faded until now, would be those of rarer keys.
        """
        return level_of(self._typical(self._counted(stream, key, self._counted_us)[0]))

    def _counted(
        self, stream: IntArray, key: IntArray, clock_us: int
    ) -> tuple[FloatArray, FloatArray]:
        """Counts of the rows' keys as far as they have come: at the slow pace, at best.

        Levels go by these. What a key will come to is a guess from few arrivals at
        first; what rows matched is remembered under their level, and under one that was
        guessed too high it would mislead for long.
        """
        passed = self._passed(clock_us)
        slow, best = self.frequency.of_partners(stream, key, clock_us, passed)
        return slow, best * self.frequency.reached(passed) ** (len(self.keep_us) - 1)

    def _passed(self, clock_us: int) -> int:
        """Event time since counting began."""
        return clock_us - int(self._clocks[_FIRST])

    def _known(self, stream: IntArray, key: IntArray) -> tuple[IntArray, FloatArray]:
        """Level of each row's key on the other streams, and what is new of it.

        Levels go by the slow pace, which does not jump; what is new comes on top.
        """
        slow, best = self._counted(stream, key, self.clock_us)
        news = np.divide(best, slow, out=np.ones(key.size), where=slow > 0.0)
        return level_of(self._typical(slow)), news

    def _rates(self) -> Table:
        """Results per second of a row, by stream, level and age."""
        return self.curve.by_level(self.frequency.per_count)

    def _typical(self, count: FloatArray) -> FloatArray:
        """What levels go by, of the counts of keys on the other streams."""
        return count

    def _pick(
        self, table: Table, stream: IntArray, level: IntArray, age_us: IntArray
    ) -> FloatArray:
        """Read a table; between two ages in proportion, so that few rows are equal."""
        rate = np.empty(stream.size)
        read_table(stream, level, age_us, self._ages_per_us, table, rate)
        return rate

    @property
    def _ages_per_us(self) -> FloatArray:
        """Ages of a microsecond, by stream."""
        per_us: FloatArray = AGES / np.maximum(np.array(self.keep_us), 1)
        return per_us


def _shapes(capacity_rows: int, streams: int) -> tuple[tuple[Shape, ...], ...]:
    """Room for each model of a shard with so many residents, and for clocks."""
    width = 1 << (max(1, capacity_rows) - 1).bit_length()
    width = min(max(width, _SMALLEST), _LARGEST)
    ghosts = max(_SMALLEST, width // 4)
    return (
        Frequency.shapes(streams, width),
        Curve.shapes(streams),
        Worth.shapes(streams),
        Slice.shapes(streams, ghosts),
        ((3,), (5,), (2,)),
    )
