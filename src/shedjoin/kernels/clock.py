"""The clock of shedding: the time by which a join decides what to shed.

The clock is the greatest event time seen, but at most a *lead* ahead of the time that
all streams have reached. So one row from the far future hardly moves the clock.
"""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.jit import inline_kernel
from shedjoin.kernels.slots import Table

ENOUGH = 32
"""The lead is measured again after this many arrivals of the sparsest stream."""
UNSEEN = np.int64(np.iinfo(np.int64).min)
"""The greatest time of a stream that has had no arrival."""


@inline_kernel
def reached_by_all(table: Table) -> int:
    """Time that all streams have reached: the least of their greatest times."""
    reached = table.streams[0]["latest"]
    for each in range(1, table.streams.size):
        reached = min(reached, table.streams[each]["latest"])
    return int(reached)


@inline_kernel
def clock_after(time: int, stream: int, table: Table) -> int:
    """Return the clock after an arrival, and note the time of the arrival.

    The clock never goes back.
    """
    facts, streams = table.facts[0], table.streams
    streams[stream]["latest"] = max(streams[stream]["latest"], time)
    latest = streams[0]["latest"]
    for each in range(1, streams.size):
        latest = max(latest, streams[each]["latest"])
    return int(max(facts["clock"], min(latest, reached_by_all(table) + facts["lead"])))


@inline_kernel
def set_clock(clock: int, stream: int, window: int, table: Table) -> None:
    """Set the clock after an arrival, and measure the lead from time to time.

    Between two rows of a sparse stream, it is normal that other streams get ahead. The
    lead covers such gaps. It is eight times the mean gap between rows of the sparsest
    stream, but at least a 256th and at most a quarter of the window.
    """
    facts, streams = table.facts[0], table.streams
    facts["clock"] = clock
    facts["seen"] |= 1 << stream
    streams[stream]["arrived"] += 1
    fewest = streams[0]["arrived"]
    for each in range(1, streams.size):
        fewest = min(fewest, streams[each]["arrived"])
    passed = clock - facts["measured_at"]
    if fewest >= ENOUGH or passed >= window:
        gap = passed // max(1, fewest)
        facts["lead"] = max(window // 256, 8 * min(gap, window // 32))
        facts["measured_at"] = clock
        for each in range(streams.size):
            streams[each]["arrived"] = 0
