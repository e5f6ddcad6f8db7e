"""The window store in every kind of workspace, restored at any moment."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from shedjoin.columns import batches
from shedjoin.operators.frame import results, runs
from shedjoin.state import merging
from support.shards import Arrival, Shard, check, make_spec
from support.sides import LEFT, RIGHT

from .disorder import (
    TRAITS,
    Look,
    Stream,
    end_of,
    ends_in_a_gap,
    spec_of,
    stream_of,
    traits,
)

SEEDS = range(12)
BATCHES = 30


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes so small that short streams grow, shrink, wrap, clean and merge."""
    monkeypatch.setattr(runs, "_FEWEST_SLOTS", 4)
    monkeypatch.setattr(runs, "_SLACK_ROWS", 8)
    monkeypatch.setattr(merging, "_SMALLEST_BYTES", 100)
    monkeypatch.setattr(merging, "SMALL_BYTES", 2000)
    monkeypatch.setattr(results, "ROOM", 8)
    monkeypatch.setattr(batches, "CHUNK_BYTES", 800)


@cache
def live(seed: int) -> list[bytes]:
    """Run a stream in memory, without a break and with small sizes; its directories."""
    return check(Shard(spec_of(seed)), stream_of(seed, BATCHES))


@pytest.mark.usefixtures("small")
def test_streams_reach_every_corner() -> None:
    seen: set[str] = set()
    for seed in SEEDS:
        shard = Shard(spec_of(seed))
        for batch, watermark_ms in stream_of(seed, BATCHES):
            before = Look(shard.store)
            shard.run(batch, watermark_ms)
            seen.update(traits(before, shard.store))
    assert seen == TRAITS


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", SEEDS)
def test_mapped_files_are_as_good_as_memory(seed: int, tmp_path: Path) -> None:
    shard = Shard(spec_of(seed), tmp_path)
    assert check(shard, stream_of(seed, BATCHES)) == live(seed)
    files = {int(path.stem) for path in tmp_path.rglob("*.arrow")}
    assert files == shard.segments.keys()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_reopened_from_its_folder(seed: int, every: int, tmp_path: Path) -> None:
    shard = Shard(spec_of(seed), tmp_path)

    def reopen(number: int) -> None:
        if number % every == 0:
            shard.reopen()

    assert check(shard, stream_of(seed, BATCHES), reopen) == live(seed)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("mapped", [False, True], ids=["memory", "mapped"])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_restored_from_stored_bytes(
    seed: int, every: int, mapped: bool, tmp_path: Path
) -> None:
    shard = Shard(spec_of(seed), tmp_path if mapped else None)

    def restore(number: int) -> None:
        if number % every == 0:
            shard.restore()

    assert check(shard, stream_of(seed, BATCHES), restore) == live(seed)


def filled(first: int, rows: int, time_us: int) -> list[Arrival]:
    """Return rows of one instant, each with a key of its own."""
    return [Arrival(number, time_us, number) for number in range(first, first + rows)]


def test_restored_when_the_newest_rows_expired_first() -> None:
    shard = Shard(make_spec(1000, 1000))
    shard.run((filled(0, 600, 600_000), []), 0)
    shard.run((filled(600, 1600, 5000), []), 500)  # matchable, then gone at once
    assert ends_in_a_gap(LEFT, shard.store)
    shard.restore()
    stranger, arrival = Arrival(-1, 600_000, 9000), Arrival(7, 600_000, 0)
    outcome = shard.run(([stranger], [arrival]), 500)
    assert outcome.report.matched == 1


def test_a_gap_left_by_merging_stays_empty() -> None:
    shard = Shard(make_spec(10**9, 10**9))
    shard.run((filled(1, 300, 5000), []), 0)
    for number in range(9):
        shard.run((filled(1000 + number, 1, 5000), []), 0)
    before, merged, _ = shard.store.runs[LEFT]
    assert end_of(before) + 8 == merged.first_slot
    shard.restore()
    zero = Arrival(0, 5000, 0)  # what an unused slot holds
    outcome = shard.run((filled(2000, 1000, 5000), [zero]), 0)
    assert outcome.report.matched == 0


@pytest.mark.usefixtures("small")
def test_only_the_living_move() -> None:
    shard = Shard(make_spec(1000, 1000))
    pin = Arrival(0, 10**6, 0)
    shard.run(([pin, *filled(1, 20, 5000)], []), 0)
    shard.run((filled(21, 20, 5000), []), 6)
    assert [s.alive for s in shard.store.runs[LEFT]] == [1]
    shard.run(([], []), 6)
    (moved,) = shard.store.runs[LEFT]
    assert (moved.first_slot, moved.segment.rows, moved.alive) == (41, 1, 1)
    assert shard.run(([], [pin]), 6).report.matched == 1


@pytest.mark.parametrize("start_again", [Shard.restore, Shard.reopen])
def test_ring_grows_and_shrinks(
    start_again: Callable[[Shard], None], tmp_path: Path
) -> None:
    shard = Shard(make_spec(1000, 1000), tmp_path)
    assert shard.store.rings[LEFT].index.heads.size == 1024
    stream: Stream = [
        ((filled(0, 1000, 5000), []), 0),
        ((filled(1000, 4000, 5000), []), 0),
        (([], filled(500, 3000, 5500)), 0),
        ((filled(0, 10, 50_000), []), 40),
        ((filled(20, 10, 50_000), filled(0, 25, 50_000)), 40),
    ]
    sizes = []

    def look(number: int) -> None:
        sizes.append(shard.store.rings[LEFT].index.heads.size)
        start_again(shard)

    check(shard, stream, look)
    assert sizes == [1024, 8192, 8192, 8192, 1024]


def test_tiny_batches_share_segments(tmp_path: Path) -> None:
    shard = Shard(make_spec(10**9, 10**9), tmp_path)
    stream: Stream = [(([Arrival(n % 50, 5000 + n, n)], []), 0) for n in range(300)]
    check(shard, stream)
    assert len(shard.store.runs[LEFT]) < 16
    assert len(shard.segments) == len(shard.store.runs[LEFT])
    outcome = shard.run(([], filled(0, 50, 5000)), 0)
    assert outcome.report.matched == 300


def test_bytes_are_those_of_rows_and_index() -> None:
    shard = Shard(make_spec(0, 0))
    empty = shard.store.nbytes
    assert empty == 2 * 8 * 1024 * (1 + 3)
    shard.run((filled(0, 100, 5000), filled(0, 50, 9000)), 0)
    assert shard.store.nbytes == empty + 150 * 3 * 8
    assert (shard.store.residents(LEFT), shard.store.residents(RIGHT)) == (100, 50)
    shard.run(([], []), 6)
    assert shard.store.nbytes == empty + 50 * 3 * 8
    assert (shard.store.residents(LEFT), shard.store.residents(RIGHT)) == (0, 50)


def test_a_segment_that_comes_and_goes_in_one_batch_is_not_stored() -> None:
    shard = Shard(make_spec(0, 0))
    shard.run((filled(0, 5, 2000), []), 3)
    assert shard.segments == {}
    assert [ring.end for ring in shard.store.rings] == [5, 0]
    assert shard.store.payload.next_id == 1
