"""All that one shard learns: frequencies, curves, rates, and its own recall."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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
from shedjoin.models.worth import Worth
from shedjoin.types import SIDES, BoolArray, FloatArray, IntArray, Side

_SMALLEST, _LARGEST = 1 << 8, 1 << 13
_TICKS = 64
EVIDENCE_WINDOWS = 4


class Models:
    """The models of one shard.

    Parameters
    ----------
    keep_us : (int, int)
        How long a row of each side can be matched.
    capacity_rows : int
        About how many residents the shard may have; the models' room follows it.
    samples : bool
        Also learn which sample of the join tells most.
    """

    def __init__(
        self, keep_us: tuple[int, ...], capacity_rows: int, *, samples: bool = False
    ) -> None:
        width = 1 << (max(1, capacity_rows) - 1).bit_length()
        width = min(max(width, _SMALLEST), _LARGEST)
        window = max(1, *keep_us)
        self.keep_us = keep_us
        self.capacity_rows = float(capacity_rows)
        self._samples = samples
        self._outlook = np.array([1.0, 0.0, 0.0, 0.0])
        self.clock_us = 0
        self._counted_us = 0
        self.frequency = Frequency(width, window)
        self.slice = Slice(max(_SMALLEST, width // 4), keep_us)
        self.curve = Curve(keep_us, EVIDENCE_WINDOWS * window)
        self.worth = Worth()
        self.clocks = np.zeros(2, np.int64)  # first arrival, last tick
        self.seen_matches = 0.0
        self.seen_pairs = 0
        self._by_age: Table | None = None  # until the next tick
        self._by_level: Table | None = None
        self._lives: Table | None = None

    def begin(self, first_us: int) -> None:
        """Start the clocks: the first arrival comes now."""
        self.clock_us = first_us
        self.clocks[:] = first_us

    def observe(
        self,
        side: IntArray,
        key: IntArray,
        time: IntArray,
        importance: FloatArray | None = None,
        *,
        clock_us: int | None = None,
        learn: bool = True,
    ) -> None:
        """Learn from arrivals of both streams, in their order.

        The clock after them is the greatest of their times if none is told; a row after
        it counts as if it came then. Without ``learn`` only the monitored slice is kept
        up: it estimates the recall.
        """
        if clock_us is None:
            clock_us = int(time.max())
        if not self.clocks[0]:
            self.clocks[:] = min(int(time[0]), clock_us)
        watched = self.make_room(side, key)
        before = self.clock_us or min(int(time[0]), clock_us)
        self._counted_us = before
        self.clock_us = max(before, clock_us)
        if importance is not None and learn:
            passed = self.clock_us - before
            fade = 0.5 ** (passed / self.frequency.half_life_us)
            self.worth.add(side, importance, fade)
        mine = [np.flatnonzero(side == own) for own in SIDES]
        for own in SIDES:
            rows = mine[own][watched[mine[own]]]
            self._watch(own, key[rows], time[rows], learn=learn)
        if learn:
            self._tick()
            for own in SIDES:
                rows = mine[own]
                counted = np.minimum(time[rows], self.clock_us)
                self.frequency.add(own, key[rows], counted, self.clock_us)

    def make_room(self, side: IntArray, key: IntArray) -> BoolArray:
        """Monitor fewer keys if coming arrivals would be too many ghosts.

        Tells which arrivals are monitored.
        """
        while True:
            watched = self.slice.monitored(key)
            coming = np.bincount(side[watched], minlength=2)
            if self.slice.has_room(coming, self.clock_us):
                return watched

    def opposite_count(self, side: IntArray, key: IntArray) -> FloatArray:
        """Decayed count of each row's key on the other stream."""
        return self.frequency.opposite(side, key, self.clock_us)[1]

    def rate(self, side: Side) -> float:
        """Arrivals of a stream per second, lately."""
        passed = max(1, self.clock_us - int(self.clocks[0]))
        faded = self.frequency.half_life_us / np.log(2.0)
        seconds = faded * -np.expm1(-passed / faded) * 1e-6
        return float(self.frequency.total(side, self.clock_us) / seconds)

    def priority_by_age(self, side: IntArray, age_us: IntArray) -> FloatArray:
        """Best mean rate of results from its age on, whatever the key."""
        if self._by_age is None:
            self._by_age = priorities(self.curve.by_age())[:, None, :].copy()
        level = np.zeros(side.size, np.int64)
        return self._pick(self._by_age, side, level, age_us)

    def priority(self, side: IntArray, key: IntArray, age_us: IntArray) -> FloatArray:
        """Best mean rate of results from its age on, for its key's frequency."""
        if self._by_level is None:
            self._by_level = priorities(self.curve.by_level(self._per_count))
        level, news = self._known(side, key)
        return news * self._pick(self._by_level, side, level, age_us)

    def expected_matches(self, side: IntArray, key: IntArray) -> FloatArray:
        """Matches that a new row will have in all its life."""
        if self._lives is None:
            rate = self.curve.by_level(self._per_count)
            self._lives = rate.sum(axis=2) * self._spans[:, None]
        level, news = self._known(side, key)
        return news * self._lives[side, level]

    def cluster_sizes(self, side: IntArray, key: IntArray) -> FloatArray:
        """Expected matches of new rows, 1 on average, as PPS-CLUSTER takes them."""
        return pps_sizes(self.expected_matches(side, key), self._mean_matches())

    def _mean_matches(self) -> float:
        """Matches of a row of either side in all its life, on average; 0 if unknown."""
        rates = self.curve.by_age().sum(axis=1) * self._spans
        rows = self.curve.seconds.sum(axis=(1, 2))
        return float(rates @ rows / max(rows.sum(), 1e-30))

    @property
    def outlook(self) -> Outlook:
        """What a sample of the join can reach."""
        fraction, *variance = self._outlook.tolist()
        return Outlook(fraction, (variance[0], variance[1], variance[2]))

    def mean_worth(self, side: IntArray, importance: FloatArray) -> FloatArray:
        """Mean importance of a result with each row."""
        return self.worth.mean(side, importance)

    def encode(self) -> pa.RecordBatch:
        """All that has to be stored, as one row of binary cells."""
        cells = {
            name: np.ascontiguousarray(array).tobytes()
            for name, array in self._arrays().items()
        }
        return pa.record_batch(
            [pa.array([cell], pa.binary()) for cell in cells.values()], list(cells)
        )

    def decode(self, stored: pa.RecordBatch) -> None:
        """Go on from stored models; those of another size start anew."""
        cells = {
            name: column[0].as_py()
            for name, column in zip(stored.schema.names, stored.columns, strict=True)
        }
        fixed = {n: a for n, a in self._arrays().items() if not n.startswith("ghost")}
        if any(len(cells[name]) != array.nbytes for name, array in fixed.items()):
            return
        self._by_age = self._by_level = self._lives = None
        for name, array in fixed.items():
            array[:] = np.frombuffer(cells[name], array.dtype)
        self.clock_us = int(np.frombuffer(cells["ghost_clock"], np.int64)[0])
        ghosts = [
            Ghosts(
                np.frombuffer(cells[f"ghost_key_{side}"], np.int64),
                np.frombuffer(cells[f"ghost_time_{side}"], np.int64),
            )
            for side in SIDES
        ]
        self.slice.restore(ghosts, int(self.slice.threshold[0]))

    @property
    def nbytes(self) -> int:
        """Bytes of all models."""
        return sum(array.nbytes for array in self._arrays().values())

    def _arrays(self) -> dict[str, npt.NDArray[np.float64] | npt.NDArray[np.int64]]:
        arrays = {
            **self.frequency.arrays(),
            **self.curve.arrays(),
            **self.worth.arrays(),
            "clocks": self.clocks,
            "outlook": self._outlook,
            "threshold": self.slice.threshold,
            "ghost_clock": np.array([self.clock_us]),
        }
        for side in SIDES:
            arrays[f"ghost_key_{side}"] = self.slice.ghosts[side].key
            arrays[f"ghost_time_{side}"] = self.slice.ghosts[side].time
        return arrays

    def _watch(self, side: Side, key: IntArray, time: IntArray, *, learn: bool) -> None:
        key.flags.writeable = False
        time.flags.writeable = False
        seen = self.slice.meet(side, key, time)
        self.seen_pairs += seen.key.size
        self.seen_matches += seen.key.size / self.slice.share
        if learn:
            level = self._levels(seen.side, seen.key)
            self.curve.add_matches(seen.side, level, seen.age_us)
        self.slice.add(side, key, time)

    def _tick(self) -> None:
        passed = self.clock_us - int(self.clocks[1])
        if passed * _TICKS < max(1, *self.keep_us):
            return
        self._by_age = self._by_level = self._lives = None
        self.curve.tick(passed)
        for side in SIDES:
            ghosts = self.slice.ghosts[side]
            there = np.flatnonzero(
                ghosts.time + self.keep_us[side] >= self.clocks[1]
            )  # at the last tick
            key, time = ghosts.key[there], ghosts.time[there]
            level = self._levels(np.full(key.size, side, np.int64), key)
            self.curve.add_time(
                side, level, self.clocks[1] - time, self.clock_us - time
            )
        self.clocks[1] = self.clock_us
        if self._samples:
            self._look_out()

    def _look_out(self) -> None:
        """Judge samples anew, on the rows of the slice that have not expired."""
        parts = []
        for side in SIDES:
            mine, theirs = self.slice.ghosts[side], self.slice.ghosts[1 - side]
            keep = max(1, self.keep_us[side])
            lived = np.maximum(0, self.clock_us - mine.time) / keep
            there = lived <= 1.0
            mine = Ghosts(mine.key[there], mine.time[there])
            own = np.full(mine.key.size, side)
            met = matches_so_far(mine, theirs, keep)
            expected = self.expected_matches(own, mine.key)
            parts.append(Rows(expected, met, lived[there]))
        rows = Rows(*map(np.concatenate, zip(*parts, strict=True)))
        share = self._row_share(rows.expected.size)
        found = outlook(rows, share, self.capacity_rows)
        self._outlook[:] = found.fraction, *found.variance

    def _row_share(self, rows: int) -> float:
        """Part of all rows that is monitored: of keys it says little if few are hot."""
        if self.slice.share == 1.0:
            return 1.0
        passed = self.clock_us - int(self.clocks[0])
        there = sum(
            self.rate(side) * min(self.keep_us[side], passed) * 1e-6 for side in SIDES
        )
        return min(1.0, rows / there) if there else 1.0

    @property
    def _spans(self) -> FloatArray:
        """Seconds of an age, by side."""
        return np.array(self.keep_us) * (1e-6 / AGES)

    @property
    def _per_count(self) -> float:
        """Arrivals per second of a key, by its decayed count."""
        return float(np.log(2.0) / (self.frequency.half_life_us * 1e-6))

    def _levels(self, side: IntArray, key: IntArray) -> IntArray:
        """Levels as they were read when the rows came: before they were counted.

        Counts of that time, faded until now, would be those of rarer keys.
        """
        return level_of(self.frequency.opposite(side, key, self._counted_us)[0])

    def _known(self, side: IntArray, key: IntArray) -> tuple[IntArray, FloatArray]:
        """Level of each row's key on the other stream, and what is new of it.

        Levels go by the slow pace, which does not jump; what is new comes on top.
        """
        slow, best = self.frequency.opposite(side, key, self.clock_us)
        news = np.divide(best, slow, out=np.ones(key.size), where=slow > 0.0)
        return level_of(slow), news

    def _pick(
        self, table: Table, side: IntArray, level: IntArray, age_us: IntArray
    ) -> FloatArray:
        """Read a table; between two ages in proportion, so that few rows are equal."""
        per_us = AGES / np.maximum(np.array(self.keep_us), 1)
        rate = np.empty(side.size)
        read_table(side, level, age_us, per_us, table, rate)
        return rate
