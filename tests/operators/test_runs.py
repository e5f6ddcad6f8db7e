"""What ``worth_moving`` costs and what it keeps small, by simulation."""

import random
from collections.abc import Sequence

import pytest

from shedjoin.operators.frame.runs import Run, worth_moving
from shedjoin.state.merging import SMALL_BYTES
from shedjoin.state.segments import Segment

FOREVER = 1 << 60
SLACK = 1024


class Side:
    """One side as a window store keeps it; a row is the moment of its death."""

    def __init__(self, row_bytes: int) -> None:
        self.row_bytes = row_bytes
        self.runs: list[Run] = []
        self.rows: dict[int, list[int]] = {}
        self.end = self.inserted = self.rewritten = self.moved = self.most = 0

    @property
    def alive(self) -> int:
        return sum(run.alive for run in self.runs)

    @property
    def span(self) -> int:
        return self.end - self.runs[0].first_slot if self.runs else 0

    def step(self, deaths: Sequence[int], now: int) -> None:
        """Tidy, insert and expire, in the order of a micro-batch."""
        self.tidy(now)
        self.inserted += len(deaths)
        self._append(list(deaths))
        self.most = max(self.most, len(self.runs))
        for place, run in enumerate(self.runs):
            if run.min_us <= now:
                alive = sum(death > now for death in self.rows[run.segment.id])
                self.runs[place] = run._replace(alive=alive)
        self.runs = [run for run in self.runs if run.alive]

    def tidy(self, now: int) -> None:
        moving = worth_moving(self.runs, self.end)
        count = len(moving)
        assert moving in (
            self.runs[:count],
            self.runs[len(self.runs) - count :],
        )
        self.runs = [s for s in self.runs if s not in moving]
        kept = [d for s in moving for d in self.rows.pop(s.segment.id) if d > now - 1]
        self.moved = len(kept)
        self.rewritten += len(kept)
        if kept:
            self._append(kept)

    def _append(self, deaths: list[int]) -> None:
        number, rows = self.end, len(deaths)
        size = rows * self.row_bytes
        segment = Segment(number, 0, rows, size)
        self.runs.append(Run(segment, self.end, rows, min(deaths), max(deaths)))
        self.rows[number] = deaths
        self.end += rows


def in_order(batch: int, row_bytes: int, batches: int, window: int) -> Side:
    side = Side(row_bytes)
    for now in range(batches):
        side.step([now + window] * batch, now)
    return side


@pytest.mark.parametrize(
    ("batch", "row_bytes", "factor"),
    [
        (1, 16, 32),
        (1, 200, 8),
        (10, 100, 6),
        (100, 100, 6),
        (20, 10_000, 4),
        (3, SMALL_BYTES // 3, 4),
        (2, SMALL_BYTES // 2, 0),
    ],
)
def test_rows_in_order_are_rewritten_a_few_times(
    batch: int, row_bytes: int, factor: int
) -> None:
    for window in (10, 700, FOREVER):
        side = in_order(batch, row_bytes, 1500, window)
        assert side.rewritten <= factor * side.inserted
        assert side.alive <= batch * (window + 1)


@pytest.mark.parametrize(
    ("batch", "row_bytes"), [(1, 24), (1, 300), (10, 100), (50, 100)]
)
def test_tiny_batches_leave_few_segments(batch: int, row_bytes: int) -> None:
    side = in_order(batch, row_bytes, 5000, FOREVER)
    stored = batch * row_bytes * 5000
    assert side.most <= 4 * 8 + stored // SMALL_BYTES + 1


def test_large_segments_are_left_alone() -> None:
    side = in_order(1, SMALL_BYTES, 200, FOREVER)
    assert len(side.runs) == 200
    assert side.rewritten == 0


@pytest.mark.parametrize("batch", [1, 7, 200, 3000])
@pytest.mark.parametrize("row_bytes", [16, 50_000, SMALL_BYTES])
def test_one_row_ahead_of_its_time_does_not_hold_the_ring(
    batch: int, row_bytes: int
) -> None:
    side = Side(row_bytes)
    for now in range(600):
        deaths = [now + 10] * batch
        if now == 5:
            deaths[0] = FOREVER
        side.step(deaths, now)
        assert side.span <= 2 * side.alive + SLACK + batch + side.moved
        if row_bytes == SMALL_BYTES:  # nothing is merged: the one row moves alone
            assert side.moved <= 1
    assert any(FOREVER in side.rows[run.segment.id] for run in side.runs)


@pytest.mark.parametrize("seed", range(6))
def test_any_stream_is_tidied_at_a_constant_cost(seed: int) -> None:
    rng = random.Random(seed)
    side = Side(rng.choice([100, 5000, SMALL_BYTES]))
    longest = rng.choice([3, 40, 1000])
    for now in range(400):
        size = rng.choice([1, 5, 5, 60, 400])
        spread = rng.choice([0, longest])  # all alike, or a few late risers
        deaths = [now + 1 + int(rng.random() ** 8 * spread) for _ in range(size)]
        before = side.alive
        side.step(deaths, now)
        assert side.span - size <= 2 * before + SLACK + side.moved
    assert side.rewritten <= 6 * side.inserted


def run(number: int, first_slot: int, rows: int, alive: int, size: int) -> Run:
    return Run(Segment(number, 0, rows, size), first_slot, alive, 0, 1)


def test_nothing_to_move() -> None:
    assert worth_moving([], 0) == []
    assert worth_moving([run(0, 0, 5, 5, 100)], 5) == []


def test_cleaning_begins_when_more_than_half_is_dead() -> None:
    large = SMALL_BYTES
    old, new = run(0, 0, 5000, 1000, large), run(1, 5000, 2000, 2000, large)
    end = 2 * 3000 + SLACK
    assert worth_moving([old, new], end) == []
    assert worth_moving([old, new], end + 1) == [old]
    assert worth_moving([old, new], 5000 + end) == [old]
    assert worth_moving([old, new], 5000 + end + 1) == [old, new]


def test_eight_small_neighbours_become_one() -> None:
    small = [run(n, n, 1, 1, 100) for n in range(8)]
    assert worth_moving(small[:7], 7) == []
    assert worth_moving(small, 8) == small
    large = run(9, 0, 10, 10, SMALL_BYTES)
    shifted = [s._replace(first_slot=10 + s.first_slot) for s in small]
    assert worth_moving([large, *shifted], 18) == shifted
    assert worth_moving([*shifted, large._replace(first_slot=18)], 28) == []


def test_segments_of_other_sizes_are_not_merged() -> None:
    sizes = [100_000] * 7 + [100] * 7
    runs = [run(n, n, 1, 1, size) for n, size in enumerate(sizes)]
    assert worth_moving(runs, 14) == []
