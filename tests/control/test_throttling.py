"""The controller against micro-batches that take what their work costs."""

from __future__ import annotations

import random

import pytest

from shedjoin.control.throttling import Observed, Throttling
from shedjoin.models.costs import Seconds, Work

INTERVAL, TARGET = 5.0, 3.5


class Machine:
    """Micro-batches of a query whose input comes at a rate; messages come one late."""

    def __init__(self, costs: Seconds, results: float, noise: float, seed: int) -> None:
        self._costs = costs
        self._results = results
        self._noise = noise
        self._rng = random.Random(seed)
        self._throttling = Throttling()
        self._share = 1.0
        self._coming: float | None = None
        self._started, self._free = -INTERVAL, 0.0
        self.sent = 0

    def run(self, rate: float, until: float) -> list[tuple[float, float]]:
        """Times and shares of the micro-batches that start until then."""
        found = []
        while (start := max(self._free, self._started + INTERVAL)) < until:
            waited = start - self._started
            rows = rate * waited
            exact = rows * self._results
            work = Work(1, rows, rows * self._share, exact * self._share)
            seconds = self._costs.of(work) * self._rng.uniform(
                1 - self._noise, 1 + self._noise
            )
            found.append((seconds, self._share))
            seen = Observed(seconds, work, exact, rows / waited, self._share)
            told = self._throttling.adapt(seen, TARGET, INTERVAL)
            if self._coming is not None:
                self._share, self._coming = self._coming, None
            elif told is not None:
                self._coming = told.share
                self.sent += 1
            self._started, self._free = start, start + seconds
        return found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "costs", [Seconds(0.6, 6e-6, 2e-6, 2e-6), Seconds(0.3, 2e-6, 8e-6, 1e-6)]
)
def test_a_burst(costs: Seconds, seed: int) -> None:
    """Three times the usual rate for four minutes; usually it takes 3 seconds."""
    machine = Machine(costs, results=10, noise=0.05, seed=seed)
    rows = (3.0 - costs.floor) / Seconds(0, *costs[1:]).of(Work(0, 1, 1, 10))
    usual = rows / INTERVAL
    assert all(share == 1.0 for _, share in machine.run(usual, 60))
    burst = machine.run(3 * usual, 300)
    assert machine.sent <= 5
    settled = [seconds for seconds, _ in burst[-15:]]
    assert max(settled) <= 1.15 * TARGET
    assert min(settled) >= 0.8 * TARGET
    after = machine.run(usual, 420)
    assert after[-1][1] == 1.0


def test_a_floor_above_the_target_closes_the_throttle() -> None:
    throttling = Throttling()
    seen = Observed(60.0, Work(1, 1e6, 1e6, 1e6), 1e6, 2e5, 1.0)
    told = throttling.adapt(seen, target=0.1, interval=5.0)
    assert told is not None
    assert told.share == 0.001
    assert throttling.costs.unsaved(1e6) > 0.1


def test_it_opens_again_from_nothing() -> None:
    """A message of the user may have closed it."""
    throttling = Throttling()
    seen = Observed(0.5, Work(1, 1e4, 0, 0), 1e5, rows_per_second=2e3, share=0.0)
    throttle = throttling.adapt(seen, TARGET, INTERVAL)
    assert throttle is not None
    assert throttle.share > 0
