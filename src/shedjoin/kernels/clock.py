"""The clock of shedding: the greatest time seen, as far as all streams bear it out."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.jit import inline_kernel
from shedjoin.kernels.slots import Table

ENOUGH = 32
"""Arrivals of the sparsest stream from which its mean gap is measured."""
UNSEEN = np.int64(np.iinfo(np.int64).min)
"""The greatest time of a stream of which nothing has come."""


@inline_kernel
def reached_by_all(table: Table) -> int:
    """Tell the time that all streams have reached."""
    reached = table.streams[0]["latest"]
    for each in range(1, table.streams.size):
        reached = min(reached, table.streams[each]["latest"])
    return int(reached)


@inline_kernel
def clock_after(time: int, stream: int, table: Table) -> int:
    """Tell the clock once an arrival has been seen, and remember the arrival's time.

    The clock is the greatest time seen, but at most the lead after the time that all
    streams have reached: a row from the far future on one of them hardly moves it.
    """
    facts, streams = table.facts[0], table.streams
    streams[stream]["latest"] = max(streams[stream]["latest"], time)
    latest = streams[0]["latest"]
    for each in range(1, streams.size):
        latest = max(latest, streams[each]["latest"])
    return int(max(facts["clock"], min(latest, reached_by_all(table) + facts["lead"])))


@inline_kernel
def set_clock(clock: int, stream: int, window: int, table: Table) -> None:
    """Set the clock after an arrival, and measure the lead now and then.

    Between two rows of a stream the others are ahead of it for good reason: the lead
    is eight mean gaps of the sparsest stream, a 256th to a quarter of the window.
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
