"""The ring: its size follows its residents, and its slots keep their rows."""

from itertools import pairwise

import numpy as np
import pytest

from shedjoin.columns.hot import Hot
from shedjoin.kernels.index import NEVER, Pairs, probe
from shedjoin.operators.exact.ring import Ring
from shedjoin.state.workspace import MemoryWorkspace
from shedjoin.types import IntArray


class Counting(MemoryWorkspace):
    """A workspace that counts the arrays it makes."""

    made = 0

    def new_array(self, name: str, size: int) -> IntArray:
        self.made += 1
        return super().new_array(name, size)


def rows(first: int, count: int) -> Hot:
    """Return rows with keys of their own, time five times the key."""
    key = np.arange(first, first + count)
    time = 5 * key
    key.flags.writeable = time.flags.writeable = False
    return Hot(key, time)


def empty(workspace: MemoryWorkspace, base: int = 0) -> Ring:
    return Ring(workspace, "left", base, base, 3, opened=False)


def found(ring: Ring, key: int, time: int) -> list[int]:
    """Return the slots that hold a key at a time."""
    pairs = Pairs.room(4096)
    wanted = Hot(np.array([key]), np.array([time]))
    for column in wanted:
        column.flags.writeable = False
    key_, time_ = wanted
    count, _, _ = probe(key_, time_, time_, 0, ring.index, ring.base, pairs)
    return sorted(pairs.slot[:count].tolist())


def capacity(ring: Ring) -> int:
    assert ring.entries.size == 3 * ring.index.heads.size
    assert ring.nbytes == 8 * 4 * ring.index.heads.size
    return int(ring.index.heads.size)


@pytest.mark.parametrize(
    ("span", "size"),
    [(1, 1024), (1024, 1024), (1025, 2048), (2048, 2048), (2049, 4096), (5000, 8192)],
)
def test_capacity_is_the_next_power_of_two(span: int, size: int) -> None:
    ring = empty(MemoryWorkspace())
    assert ring.insert(rows(1, span)) == 0
    assert capacity(ring) == size
    assert found(ring, span, 5 * span) == [span - 1]


def test_residents_survive_growth_and_shrinking() -> None:
    ring = empty(MemoryWorkspace(), base=7000)
    ring.insert(rows(0, 1000))
    ring.insert(rows(1000, 20_000))
    assert capacity(ring) == 32_768
    assert all(
        found(ring, key, 5 * key) == [7000 + key] for key in range(0, 21_000, 99)
    )
    ring.base = 7000 + 20_500
    assert ring.insert(rows(21_000, 1)) == 28_000
    assert capacity(ring) == 1024
    assert found(ring, 20_499, 5 * 20_499) == []
    kept = range(20_500, 21_001)
    assert all(found(ring, key, 5 * key) == [7000 + key] for key in kept)
    assert ring.read(ring.base, 501).key.tolist() == list(kept)


def test_size_does_not_flutter() -> None:
    workspace = Counting()
    ring = empty(workspace)
    ring.insert(rows(0, 4096))
    workspace.made = 0
    for first, end in pairwise(range(4096, 40_000, 300)):
        ring.base = first - 300  # an eighth of the capacity and less
        ring.insert(rows(first, end - first))
    assert workspace.made == 0


def test_a_ring_that_empties_with_every_batch_keeps_its_arrays() -> None:
    workspace = Counting()
    ring = empty(workspace)
    ring.insert(rows(0, 3000))
    workspace.made = 0
    for number in range(1, 6):
        ring.base = ring.end
        ring.insert(rows(3000 * number, 3000))
    assert workspace.made == 0


@pytest.mark.parametrize("skipped", [0, 1, 500, 3000])
def test_skipped_slots_hold_nothing(skipped: int) -> None:
    ring = empty(MemoryWorkspace())
    ring.insert(rows(0, 600))
    ring.skip_to(600 + skipped)
    assert ring.read(600, skipped).time.tolist() == [int(NEVER)] * skipped
    first = ring.insert(rows(600, 2000))  # grows: all slots are linked again
    assert first == 600 + skipped
    assert found(ring, 0, 0) == [0]
    assert found(ring, 599, 5 * 599) == [599]
    assert found(ring, 700, 5 * 700) == [first + 100]


def test_rows_may_be_put_where_they_were() -> None:
    ring = empty(MemoryWorkspace(), base=50)
    assert ring.insert(rows(0, 10), 50) == 50
    assert ring.insert(rows(10, 10), 2000) == 2000
    assert (ring.base, ring.end, capacity(ring)) == (50, 2010, 2048)
    assert found(ring, 9, 45) == [59]
    assert found(ring, 10, 50) == [2000]
    assert found(ring, 0, 0) == [50]


def test_buried_rows_are_not_found() -> None:
    ring = empty(MemoryWorkspace())
    ring.insert(rows(0, 10))
    ring.bury(3, 2)
    slots = [found(ring, key, 5 * key) for key in range(10)]
    assert slots == [[0], [1], [2], [], [], [5], [6], [7], [8], [9]]


def test_an_opened_ring_goes_on() -> None:
    workspace = MemoryWorkspace()
    first = empty(workspace)
    first.insert(rows(0, 2000))
    second = Ring(workspace, "left", 100, 2000, 3, opened=True)
    assert capacity(second) == 2048
    assert second.insert(rows(2000, 5)) == 2000
    assert found(second, 1999, 5 * 1999) == [1999]
    assert found(second, 99, 5 * 99) == []
