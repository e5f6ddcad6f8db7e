"""The clock of shedding against a computation over all rows seen."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.kernels.clock import ENOUGH, clock_after, set_clock
from shedjoin.kernels.slots import Table

from .plain import PlainClock
from .tables import empty_table

WINDOW = 2560


def started(streams: int, first: int) -> Table:
    """A table whose streams have all reached the first time."""
    table = empty_table(1, streams)
    table.streams["latest"] = first
    for name in ("clock", "measured_at"):
        table.facts[0][name] = first
    table.facts[0]["lead"] = WINDOW // 4
    return table


def see(table: Table, time: int, stream: int) -> int:
    clock = clock_after(time, stream, table)
    set_clock(clock, stream, WINDOW, table)
    assert int(table.facts[0]["clock"]) == clock
    return clock


@pytest.mark.parametrize("streams", [2, 3])
@pytest.mark.parametrize("pace", [1, 20, 200, 2000])
def test_any_stream(streams: int, pace: int, rng: np.random.Generator) -> None:
    share = rng.dirichlet(np.ones(streams))
    table, plain = started(streams, 500), PlainClock(streams, WINDOW, 500)
    time, seen = 500, 0
    for _ in range(300):
        time += int(rng.integers(pace + 1))
        stream = int(rng.choice(streams, p=share))
        jitter = int(rng.integers(-WINDOW, WINDOW)) if rng.random() < 0.1 else 0
        assert see(table, time + jitter, stream) == plain.see(time + jitter, stream)
        seen |= 1 << stream
        assert int(table.facts[0]["seen"]) == seen


@pytest.mark.parametrize("streams", [2, 3])
def test_a_row_from_the_far_future_moves_the_clock_by_the_lead(streams: int) -> None:
    table = started(streams, 0)
    assert see(table, 1 << 50, 1) == WINDOW // 4
    assert see(table, 1 << 51, 1) == WINDOW // 4
    assert see(table, -5, 0) == WINDOW // 4


@pytest.mark.parametrize("streams", [2, 3])
def test_the_clock_waits_for_a_stream_of_which_nothing_came(streams: int) -> None:
    table = empty_table(1, streams)
    for stream in range(streams - 1):
        assert see(table, 700, stream) == 0
    assert see(table, 600, streams - 1) == 600


@pytest.mark.parametrize("streams", [2, 3])
def test_the_lead_is_eight_mean_gaps_of_the_sparsest_stream(streams: int) -> None:
    table = started(streams, 0)
    for step in range(ENOUGH):
        assert int(table.facts[0]["lead"]) == WINDOW // 4
        for stream in range(streams):
            for _ in range(1 + stream):
                see(table, 30 * (step + 1), stream)
    assert int(table.facts[0]["lead"]) == 8 * 30
    assert int(table.facts[0]["measured_at"]) == 30 * ENOUGH


@pytest.mark.parametrize("streams", [2, 3])
def test_the_lead_is_measured_when_a_window_has_passed(streams: int) -> None:
    table = started(streams, 0)
    for stream in range(streams):
        assert not table.facts[0]["measured_at"]
        see(table, WINDOW, stream)
    assert int(table.facts[0]["measured_at"]) == WINDOW
    assert not table.streams["arrived"].any()
