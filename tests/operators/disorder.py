"""Random disordered streams, and what they make a window store do."""

import random
from collections.abc import Iterator
from itertools import pairwise

from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.runs import Run
from shedjoin.spec.streams import JoinSpec
from support.shards import Arrival, Batch, make_spec
from support.sides import SIDES, Side

Stream = list[tuple[Batch, int]]
TRAITS = {
    "grew",
    "shrank",
    "wrapped",
    "moved",
    "partly alive",
    "gap in the middle",
    "gap at the end",
}


def spec_of(seed: int) -> JoinSpec:
    """Return a join; every other one compares keys behind hashes that collide."""
    rng = random.Random(seed)
    near, far = rng.choice([0, 1000, 5000]), rng.choice([3000, 20_000])
    windows = [(near, far), (far, near), (-near, near + far)]
    return make_spec(*rng.choice(windows), direct=seed % 2 == 0)


def stream_of(seed: int, batches: int) -> Stream:
    """Return micro-batches with their watermarks.

    Some batches are overdue as a whole, some rows far ahead of their time.
    """
    rng = random.Random(seed)
    now_us, watermark_ms, number = 10_000, 0, 0
    stream: Stream = []
    for _ in range(batches):
        sides: tuple[list[Arrival], list[Arrival]] = ([], [])
        for side in SIDES:
            start_us = rng.choice([now_us, now_us, 1000 * watermark_ms])
            for _ in range(rng.choice([0, 1, 2, 5, 5, 30, 70])):
                time_us = start_us + 1000 * rng.randint(-2, 5) + rng.randint(-1, 1)
                if rng.random() < 0.03:
                    time_us += rng.choice([100_000, 1_000_000])
                sides[side].append(Arrival(rng.randrange(12), time_us, number))
                number += 1
        behind_us = rng.choice([20_000, 0, 0, -2000, -20_000])
        watermark_ms = max(watermark_ms, (now_us - behind_us) // 1000)
        stream.append((sides, watermark_ms))
        now_us += rng.choice([0, 1000, 5000, 30_000])
    return stream


def end_of(run: Run) -> int:
    """Return the first slot after a run."""
    return run.first_slot + run.segment.rows


class Look(list[tuple[int, list[Run]]]):
    """Capacity and runs of each side at one moment."""

    def __init__(self, store: WindowStore) -> None:
        super().__init__(
            (store.rings[side].index.heads.size, list(store.runs[side]))
            for side in SIDES
        )


def traits(before: Look, store: WindowStore) -> Iterator[str]:
    """Name what happened to a store since an earlier look."""
    for side in SIDES:
        yield from _traits(side, before[side], store)


def _traits(
    side: Side, before: tuple[int, list[Run]], store: WindowStore
) -> Iterator[str]:
    ring, kept = store.rings[side], store.runs[side]
    capacity = ring.index.heads.size
    if capacity > before[0]:
        yield "grew"
    if capacity < before[0]:
        yield "shrank"
    if ring.base // capacity < (ring.end - 1) // capacity:
        yield "wrapped"
    now = {run.segment.id for run in kept}
    horizon_us = 1000 * store.watermark_ms - store.spec.keeps_us[side]
    if any(r.segment.id not in now and r.max_us > horizon_us for r in before[1]):
        yield "moved"
    if any(0 < run.alive < run.segment.rows for run in kept):
        yield "partly alive"
    if any(end_of(a) < b.first_slot for a, b in pairwise(kept)):
        yield "gap in the middle"
    if ends_in_a_gap(side, store):
        yield "gap at the end"


def ends_in_a_gap(side: Side, store: WindowStore) -> bool:
    """Tell whether the newest rows of a side have expired before older ones."""
    kept = store.runs[side]
    return bool(kept) and end_of(kept[-1]) < store.rings[side].end
