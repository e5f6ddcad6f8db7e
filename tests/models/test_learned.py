"""What a shard knows of its own results, against a join of all rows."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.kernels.matching import SUM
from shedjoin.models.learned import Models
from shedjoin.models.meter import Results
from shedjoin.types import FloatArray, IntArray

WINDOW_US = 2_000_000
ROWS, KEYS, BLOCK = 3000, 40, 100


class Arrived:
    """Rows of two streams, a few keys with most of the results; half is found."""

    def __init__(self, keys: int, skew: float) -> None:
        rng = np.random.default_rng(5)
        chance = 1.0 / np.arange(1, keys + 1) ** skew
        self.key = rng.choice(keys, ROWS, p=chance / chance.sum())
        self.stream, self.time = rng.integers(0, 2, ROWS), np.arange(ROWS) * 4000
        self.time += WINDOW_US
        self.importance = np.asarray(1.0 + self.key % 3, np.float64)
        self.exact = np.array([self._results(row) for row in range(ROWS)])
        self.found = rng.binomial(self.exact, 0.5).astype(np.float64)

    def _results(self, row: int) -> int:
        """Rows before this one that it matches."""
        near = self.time[row] - self.time[:row] <= WINDOW_US
        other = self.stream[:row] != self.stream[row]
        return int(np.count_nonzero(near & other & (self.key[:row] == self.key[row])))

    def teach(self, models: Models) -> list[tuple[float, float]]:
        """Results missed in each block, and their importance, as estimated."""
        told = []
        gained = 2.0 * self.importance * self.found  # a sum of two that are equal
        for start in range(0, ROWS, BLOCK):
            at = slice(start, start + BLOCK)
            models.begin_count()
            models.observe(
                self.stream[at],
                self.key[at],
                self.time[at],
                self.importance[at],
                results=Results(self.found[at], gained[at]),
            )
            missed, _ = models.missed()
            told.append((missed.results, missed.importance))
        return told

    def missed(self) -> tuple[FloatArray, FloatArray]:
        """Results missed in each block, and their importance."""
        missed = self.exact - self.found
        blocks = np.arange(ROWS) // BLOCK
        worth = 2.0 * self.importance * missed
        found, gained = (np.bincount(blocks, each) for each in (missed, worth))
        return np.asarray(found, np.float64), np.asarray(gained, np.float64)


def test_what_was_missed_is_known_if_all_keys_are_monitored() -> None:
    """Frequent keys are counted to a part of the window, all others exactly."""
    arrived = Arrived(KEYS, 1.2)
    models = Models((WINDOW_US, WINDOW_US), combine=SUM)
    told = np.array(arrived.teach(models))
    assert models.slice.share == 1.0
    assert models.frequent.size > 0
    for found, exact in zip(told.T, arrived.missed(), strict=True):
        assert found.tolist() == pytest.approx(exact.tolist(), rel=0.06, abs=6.0)
        assert found.sum() == pytest.approx(exact.sum(), rel=0.01)


def test_what_was_missed_is_estimated_if_few_keys_are_monitored() -> None:
    """One key has most of the results, and it need not be among them."""
    arrived = Arrived(400, 1.0)
    models = Models((WINDOW_US, WINDOW_US), combine=SUM)
    models.slice._halvings[0] = 2
    told = np.array(arrived.teach(models))
    half = ROWS // BLOCK // 2
    for found, exact in zip(told.T, arrived.missed(), strict=True):
        assert found[half:].sum() == pytest.approx(exact[half:].sum(), rel=0.1)


def observe_all(
    models: Models, stream: IntArray, key: IntArray, time: IntArray
) -> None:
    for start in range(0, key.size, BLOCK):
        rows = slice(start, start + BLOCK)
        models.observe(stream[rows], key[rows], time[rows])


def test_matches_of_an_arrival_over_both_streams() -> None:
    """A key that comes on one stream only has next to none."""
    models = Models((WINDOW_US, WINDOW_US), capacity_rows=100)
    turn = np.arange(10_000)  # twenty windows: what was learned at first has faded
    time, stream = WINDOW_US + turn * 4000, turn % 2
    key = np.where(stream == 0, turn // 2 % 3, turn // 2 % 2)
    observe_all(models, stream, key, time)
    found = models.matches_per_arrival(np.array([0, 1, 2, 99]))
    # Per window: 250 rows of each stream, a third and a half of which have key 0.
    expected = 2 * (250 / 3) * 125 / (250 / 3 + 125)
    # Where few keys come, levels tell rates to a quarter of an octave.
    assert found[:2].tolist() == pytest.approx([expected] * 2, rel=0.2)
    assert found[2] < 0.01 * expected
    assert found[3] == 0.0
    assert models.rows_in_window() == pytest.approx(500, rel=0.05)


def test_neighbours_count_if_rows_match_them() -> None:
    """Key 10 never came on the other stream, but keys around it did."""
    alone, near = (Models((WINDOW_US, WINDOW_US), reach=reach) for reach in (0, 2))
    time, stream = np.arange(1000) * 4000, np.arange(1000) % 2
    key = np.where(stream == 0, 10, np.array([8, 12, 13, 30])[np.arange(1000) // 2 % 4])
    for models in (alone, near):
        observe_all(models, stream, key, time)
    own, wanted = np.zeros(3, np.int64), np.array([10, 30, 50])
    assert alone.partner_count(own, wanted)[0] == 0.0
    found = near.partner_count(own, wanted)
    assert found[0] == pytest.approx(2.0 * found[1], rel=0.05)
    assert found[1] > 0.0
    assert found[2] == 0.0
    rate = near.priority(own, wanted, own)
    assert rate[1] == pytest.approx(125.0 / 4.0, rel=0.05)
