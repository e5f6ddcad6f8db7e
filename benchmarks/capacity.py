"""What a cluster needs, computed from the constants that ``scale`` measures.

The model is arithmetic: work is spread evenly over cores, nothing waits. ``BUSY`` says
how much of the cores the work may take, so that a larger micro-batch still fits.
"""

from __future__ import annotations

from typing import NamedTuple

BUSY = 0.6
INTERVAL_S = 10
WINDOW_S = 600


class Constants(NamedTuple):
    """Measured: core time of a row, of a shard per micro-batch and of restoring."""

    row_us: float
    shard_ms: float
    restore_ms_per_mb: float
    state_bytes_per_row: float
    written_bytes_per_row: float


class Capacity(NamedTuple):
    """Computed: what an arrival rate needs, all streams together."""

    events_per_s: float
    cores: float
    micro_batch_s: float
    shuffled_mb_per_s: float
    state_gb: float
    written_mb_per_s: float
    directory_calls_per_s: float
    recovery_s: float


def capacity(constants: Constants, events_per_s: float) -> Capacity:
    """Cores, network, disk and recovery time for an arrival rate.

    A row is shuffled once, and takes there what it takes in the state. One shard per
    core: more cost a shard's own time, fewer leave cores idle. Cores that rows need are
    ``rate * row_us``; each then has a shard of its own to open and to commit in every
    micro-batch.
    """
    for_rows = events_per_s * constants.row_us * 1e-6 / BUSY
    for_a_shard = constants.shard_ms * 1e-3 / INTERVAL_S / BUSY
    cores = for_rows / (1.0 - for_a_shard)
    state = events_per_s * WINDOW_S * constants.state_bytes_per_row
    return Capacity(
        events_per_s=events_per_s,
        cores=cores,
        micro_batch_s=BUSY * INTERVAL_S,
        shuffled_mb_per_s=events_per_s * constants.state_bytes_per_row / 1e6,
        state_gb=state / 1e9,
        written_mb_per_s=events_per_s * constants.written_bytes_per_row / 1e6,
        directory_calls_per_s=cores / INTERVAL_S,
        recovery_s=state / 1e6 * constants.restore_ms_per_mb * 1e-3 / cores,
    )
