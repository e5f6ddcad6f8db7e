"""All that one shard learns: frequencies, curves, rates, and its own recall."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.frequent import Counted
from shedjoin.models import sampling
from shedjoin.models.curve import Curve
from shedjoin.models.frequency import FEWEST, MOST, Frequency
from shedjoin.models.frequent import Frequent
from shedjoin.models.meter import GROUPS, Meter, Metered, Missed, Results
from shedjoin.models.miniature import Miniature
from shedjoin.models.monitored import Arrived, Ghosts, Seen, Slice
from shedjoin.models.naming import Came, name_frequent
from shedjoin.models.rooms import keys_in, shapes_of, words_of
from shedjoin.models.sizes import Sizes, octave_of
from shedjoin.models.words import cut, reals, size_of
from shedjoin.models.worth import Worth
from shedjoin.models.yields import Yields
from shedjoin.types import BoolArray, FloatArray, IntArray

_TICKS = 64
EVIDENCE_WINDOWS = 4
_FIRST, _TICK, _NOW, _BEHIND = range(4)
"""Times of the first arrival, last curve update and last arrival; recent delay."""
_PAIR = 2


class Models:
    """The models of one shard.

    Parameters
    ----------
    keep_us : tuple of int
        How long a row of each stream can be matched.
    capacity_rows : float
        About how many residents the shard may have; used to compare samples.
    samples : bool
        Whether to learn which sample of the join has the least variance.
    reach : int
        Rows match if their keys differ by up to this. If it is above 0, results are
        estimated from the counts of all these keys, and not by age.
    combine : int, optional
        How the importance of a result is computed from those of its rows. By default,
        each result has importance 1.
    lateness_us : int, default 0
        How far out of order rows are expected to come.
    words : array, optional
        What was learned before, or zeros. The models change this array in place. Its
        size is that of :meth:`words_of`, or larger if there is room for more keys.
    """

    def __init__(
        self,
        keep_us: tuple[int, ...],
        capacity_rows: float = 0.0,
        *,
        samples: bool = False,
        reach: int = 0,
        combine: int | None = None,
        lateness_us: int = 0,
        words: IntArray | None = None,
    ) -> None:
        streams = len(keep_us)
        self.keep_us = keep_us
        self._streams = range(streams)
        self.capacity_rows = capacity_rows
        self._samples = samples
        self._reach = reach
        self._combine = combine if streams == _PAIR else None
        if words is None:
            words = np.zeros(self.words_of(streams, reach), np.int64)
        self.words = words
        shapes = shapes_of(streams, reach, keys_in(words.size, streams, reach))
        room = iter(cut(words, [shape for each in shapes for shape in each]))
        curve, worth, sizes, monitored, frequent, meter, small, own, near, frequency = (
            [next(room) for _ in each] for each in shapes
        )
        window = max(1, *keep_us)
        self.frequency = Frequency(frequency, window)
        self._near = Frequency(near, window) if reach else self.frequency
        self.curve = Curve(curve, keep_us, EVIDENCE_WINDOWS * window)
        self.worth = Worth(worth)
        self.sizes = Sizes(sizes, self.curve)
        self.slice = Slice(monitored, keep_us)
        self._most_behind_us = lateness_us + window
        self.frequent = Frequent(frequent, keep_us, self._most_behind_us)
        self.meter = Meter(meter, streams)
        self.miniature = Miniature(small, keep_us) if small else None
        self._clocks, outlook = own
        self._outlook = reals(outlook)
        self.yields = Yields(self.frequency, self.curve, self._clocks[:_NOW])
        self._counted_us = 0
        self.begin_count()

    @staticmethod
    def words_of(streams: int, reach: int = 0, keys: int = FEWEST) -> int:
        """Number of words of the models with room for a given number of keys."""
        return words_of(streams, reach, keys)

    @property
    def is_crowded(self) -> bool:
        """Whether more keys come than there is room for, and the room can grow."""
        return self.frequency.keys < MOST and self.frequency.is_full(self.clock_us)

    @property
    def roomier_words(self) -> int:
        """Number of words of these models with room for twice as many keys."""
        return self.words_of(len(self.keep_us), self._reach, 2 * self.frequency.keys)

    def copy_to(self, words: IntArray) -> None:
        """Copy all that was learned into an array with room for twice as many keys."""
        streams, keys = len(self.keep_us), self.frequency.keys
        counts = size_of(Frequency.shapes(streams, keys))
        same = self.words.size - counts
        words[:same] = self.words[:same]
        room = cut(words[same:], Frequency.shapes(streams, 2 * keys))
        self.frequency.move_to(Frequency(room, self.frequency.half_life_us))

    def begin_count(self) -> None:
        """Begin to count the results of an exact join."""
        self.seen_pairs = 0
        self.frequency.begin_count()
        self._begun_us = self.clock_us
        self.meter.begin()

    def go_on(self, former: Models) -> None:
        """Continue the counts that other models have begun."""
        self.seen_pairs = former.seen_pairs
        self._begun_us = former._begun_us
        self.meter.go_on(former.meter)

    def missed(self) -> tuple[Missed, Missed]:
        """Estimate the results of an exact join that were missed since counting began.

        The second value has the variances of the sums over all time.
        """
        passed = self.clock_us - self._begun_us
        fade = self.frequency.faded(passed // EVIDENCE_WINDOWS)
        return self.meter.end(self.slice.share, fade)

    @property
    def clock_us(self) -> int:
        """Time up to which arrivals were seen."""
        return int(self._clocks[_NOW])

    def begin(self, first_us: int) -> None:
        """Start the clocks at the time of the first arrival."""
        self._clocks[:_BEHIND] = first_us

    def observe(  # noqa: PLR0913  (columns; all else by keyword)
        self,
        stream: IntArray,
        key: IntArray,
        time: IntArray,
        importance: FloatArray | None = None,
        size: IntArray | None = None,
        *,
        clock_us: int | None = None,
        watched: BoolArray | None = None,
        results: Results | None = None,
    ) -> None:
        """Learn from arrivals of all streams, in their order.

        Without ``clock_us``, the clock becomes the greatest of their times. A row with
        a later time than the clock counts at the clock. ``size`` is what each row takes
        from the budget. ``watched`` is the result of :meth:`make_room`, if it was
        called for these arrivals. ``results`` are the results that each arrival has
        found. Without ``results``, the recall is not estimated.
        """
        if clock_us is None:
            clock_us = int(time.max())
        if watched is None:
            watched = self.make_room(stream, key)
        if importance is None:
            importance = np.full(key.size, np.inf)
        octave = np.zeros(key.size, np.int8) if size is None else octave_of(size)
        rows = Arrived(stream, key, time, importance, octave)
        self._observe(rows, clock_us, watched, results)

    def _observe(
        self,
        rows: Arrived,
        clock_us: int,
        watched: BoolArray,
        results: Results | None,
    ) -> None:
        """Learn from arrivals up to a clock.

        The very first arrivals are learned in parts, each about as large as all parts
        before it. Otherwise, matches of frequent keys would be attributed to rare keys,
        because all keys look rare before they are counted.
        """
        stream, key, time, importance, _ = rows
        if not self._clocks[_FIRST]:
            self._clocks[[_FIRST, _TICK]] = min(int(time[0]), clock_us)
        half = key.size // 2
        if half and self.frequency.is_empty:
            reached = min(clock_us, int(time[:half].max()))
            for part, clock in ((slice(half), reached), (slice(half, None), clock_us)):
                found = None if results is None else results.part(part)
                self._observe(rows.part(part), clock, watched[part], found)
            return
        before = self.clock_us or min(int(time[0]), clock_us)
        self._counted_us = before
        self._clocks[_NOW] = max(before, clock_us)
        behind = max((before - time).max(), self._clocks[_BEHIND] * self.faded(before))
        self._clocks[_BEHIND] = min(int(behind), self._most_behind_us)
        mine = [np.flatnonzero(stream == own) for own in self._streams]
        self._measure(rows, watched, mine, results)
        # In a sample, the cluster size of a row depends on its absolute value.
        worth = np.abs(importance) if self._samples else importance
        self.worth.add(stream, worth, self.faded(before))
        is_due = self._tick()
        self._count(mine, key, time)
        if is_due and self._samples and len(self.keep_us) == _PAIR:
            # This needs the counts of these arrivals: without them, keys look rarer.
            learned = self.slice, self.yields, self.worth
            outlook = sampling.judged(*learned, self.clock_us, self.capacity_rows)
            self._outlook[:] = sampling.outlook_words(outlook)
        passed = self.yields.passed_us(self.clock_us)
        came = Came(stream, key, importance, passed, before, self.clock_us)
        name_frequent(came, self.frequency, self.slice, self.frequent)

    def _measure(
        self,
        rows: Arrived,
        watched: BoolArray,
        mine: list[IntArray],
        results: Results | None,
    ) -> None:
        """Count the results of an exact join, and the results that were found."""
        number = self.frequent.numbers(rows.key)
        counted = Counted(rows.stream, rows.time, rows.importance, number)
        exact, worth = self.frequent.count(counted, self.clock_us, self._combine)
        for own, at in enumerate(mine):
            seen = at[watched[at]]
            each = self._watch(own, rows.ghosts(seen))
            exact[seen], worth[seen] = each  # ghosts are more exact than counts
        if results is not None:
            group = self.slice.group(rows.key, GROUPS)
            self.meter.add(
                Metered(
                    *(rows.stream, number >= 0, watched, group),
                    *(exact, results.found, worth, results.gained),
                ),
                self.slice.share,
            )

    def _count(self, mine: list[IntArray], key: IntArray, time: IntArray) -> None:
        """Count the keys of arrivals; ``mine`` holds their rows by stream."""
        for own, rows in enumerate(mine):
            counted = np.minimum(time[rows], self.clock_us)
            self.frequency.add(own, key[rows], counted, self.clock_us)
            for offset in range(-self._reach, self._reach + 1) if self._reach else ():
                self._near.add(own, key[rows] + offset, counted, self.clock_us)

    def faded(self, since_us: int) -> float:
        """Part of a count at ``since_us`` that is left now."""
        return self.frequency.faded(self.clock_us - since_us)

    def make_room(self, stream: IntArray, key: IntArray) -> BoolArray:
        """Monitor fewer keys if there is no room for the ghosts of these arrivals.

        Returns which arrivals are monitored.
        """
        while True:
            watched = self.slice.monitored(key)
            coming = np.bincount(stream[watched], minlength=len(self.keep_us))
            if self.slice.has_room(coming, self.clock_us - int(self._clocks[_BEHIND])):
                return watched

    def partner_count(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Decayed count of each row's key on the other stream.

        If there are several other streams, their counts are multiplied.
        """
        passed = self.yields.passed_us(self.clock_us)
        return self._near.of_partners(stream, key, self.clock_us, passed)[1]

    def rate(self, stream: int) -> float:
        """Recent arrivals of a stream per second."""
        return self.yields.rate(stream, self.clock_us)

    def priority_by_age(self, stream: IntArray, age_us: IntArray) -> FloatArray:
        """Priority of each row by its age alone (see :class:`AskedModels`)."""
        return self.yields.priority_by_age(stream, age_us)

    def priority(self, stream: IntArray, key: IntArray, age_us: IntArray) -> FloatArray:
        """Priority of each row, by its age and by how often its key comes."""
        if self._reach:
            return self.partner_count(stream, key) * self.yields.per_product[stream]
        return self.yields.priority(stream, key, age_us, self.clock_us)

    def expected_matches(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Expected matches of a new row over its whole life."""
        return self.yields.expected_matches(stream, key, self.clock_us)

    def matches_per_arrival(self, key: IntArray) -> FloatArray:
        """Expected matches of a new row of each key, averaged over both streams."""
        first, second = (np.full(key.size, own, np.int64) for own in self._streams)
        came = self.partner_count(second, key), self.partner_count(first, key)
        total = came[0] + came[1]
        found = came[0] * self.expected_matches(first, key)
        found += came[1] * self.expected_matches(second, key)
        return np.divide(found, total, out=np.zeros(key.size), where=total > 0)

    def cluster_sizes(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Expected matches of new rows, scaled to a mean of 1 (for PPS-CLUSTER)."""
        expected = self.expected_matches(stream, key)
        return sampling.pps_sizes(expected, self.yields.mean_matches())

    def value_sizes(self, stream: IntArray, importance: FloatArray) -> FloatArray:
        """Importance of rows, scaled to a mean of 1 (for samples by value)."""
        return sampling.value_sizes(self.worth.relative(stream, importance))

    @property
    def is_empty(self) -> bool:
        """Whether no row has been counted yet."""
        return self.frequency.is_empty

    @property
    def outlook(self) -> sampling.Outlook:
        """Predicted variances of the sampling schemes, and a fraction for UNIFORM."""
        return sampling.outlook_in(self._outlook)

    def size_factor(self, stream: IntArray, size: IntArray) -> FloatArray:
        """How often rows of a size match, relative to rows with keys as frequent."""
        return self.sizes.factor(stream, size)

    def mean_worth(self, stream: IntArray, importance: FloatArray) -> FloatArray:
        """Mean importance of the results of each row."""
        return self.worth.mean(stream, importance)

    def rows_in_window(self) -> float:
        """Expected number of rows that have not expired, over all streams."""
        return self.yields.rows_in_window(self.clock_us)

    def _watch(self, stream: int, came: Ghosts) -> tuple[FloatArray, FloatArray]:
        """Match monitored arrivals; return the number and importance of their results.

        The number of results is the product of the numbers of partners on the other
        streams. For a late arrival, it is too high, because some of these partners are
        too far apart from each other in time.
        """
        others = [other for other in self._streams if other != stream]
        met = [self.slice.meet(stream, each, came, self._combine) for each in others]
        count = [each.matches for each in met]
        for at, (_, _, rows, seen, step) in enumerate(met):
            weight = np.prod([*count[:at], *count[at + 1 :]], axis=0, dtype=np.int64)
            if rows.size:
                octave = came.octave[rows]
                early = np.where(seen.stream == stream, octave, seen.octave)
                weight = step * np.broadcast_to(weight, came.key.size)[rows]
                self._learn(seen._replace(octave=early), weight)
        exact = np.prod(count, axis=0, dtype=np.float64)
        self.seen_pairs += int(exact.sum())
        worth = exact if self._combine is None else met[0].worth
        self.slice.add(stream, came)
        return exact, worth

    def _learn(self, seen: Seen, weight: IntArray) -> None:
        """Learn the ages and sizes at which rows matched, weighted by their results."""
        level = self._levels(seen.stream, seen.key)
        self.curve.add_matches(seen.stream, level, seen.age_us, weight)
        self.sizes.add_matches(seen.stream, level, seen.octave, weight)

    def _levels(self, stream: IntArray, key: IntArray) -> IntArray:
        """Levels of keys when the rows came, before these rows were counted.

        With the present clock, counts would have faded, and keys would look rarer.
        """
        return self.yields.levels(stream, key, self._counted_us)

    def _tick(self) -> bool:
        """Update the curves if this is due; return whether it was due."""
        last_tick = int(self._clocks[_TICK])
        passed = self.clock_us - last_tick
        if passed * _TICKS < max(1, *self.keep_us):
            return False
        self.yields.forget()
        aged = self.curve.aged(passed, self.clock_us - int(self._clocks[_FIRST]))
        self.curve.tick(aged)
        self.sizes.tick(aged)
        for stream, keep in enumerate(self.keep_us):
            ghosts = self.slice.ghosts(stream)
            there = np.flatnonzero(ghosts.time + keep >= last_tick)
            names, place = np.unique(ghosts.key[there], return_inverse=True)
            level = self._levels(np.full(names.size, stream, np.int64), names)
            self.curve.add_keys(stream, level, passed)
            time = ghosts.time[there]
            ages = last_tick - time, self.clock_us - time
            count = self.yields.will_count(self.clock_us)
            self.curve.add_time(stream, level[place], *ages, count)
            young, old = (np.clip(age, 0, keep) for age in ages)
            self.sizes.add_time(stream, level[place], ghosts.octave[there], old - young)
        self._clocks[_TICK] = self.clock_us
        return True
