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

    def close(self, share: float) -> None:
        """Set the throttle by hand."""
        self._share = share

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
            whole = Work(1, rows, rows, exact)
            seen = Observed(seconds, work, whole, rows / waited, self._share)
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


def test_a_floor_near_the_target_does_not_cost_all_results() -> None:
    """Joining takes a third of a second, all else 1.8 of the 2 seconds it may take."""
    costs = Seconds(1.2, 4e-5, 6e-6, 1e-6)
    throttling, share = Throttling(), 1.0
    for _ in range(20):
        work = Work(1, 15_000, 15_000 * share, 240_000 * share)
        seen = Observed(
            costs.of(work), work, Work(1, 15_000, 15_000, 240_000), 3750, share
        )
        told = throttling.adapt(seen, target=2.0, interval=4.0)
        share = told.share if told else share
        assert share > 0.1
    assert costs.of(Work(1, 15_000, 15_000 * share, 240_000 * share)) < 1.15 * 2.0


def test_it_opens_from_next_to_nothing_in_a_few_steps() -> None:
    """Costs that were learned before anything was shed may have been far off."""
    machine = Machine(Seconds(0.3, 1e-6, 1e-6, 2e-6), results=10, noise=0.0, seed=1)
    machine.close(0.001)
    shares = [share for _, share in machine.run(20_000, 60)]
    assert shares[-1] == 1.0
    assert len([share for share in shares if share < 0.1]) <= 2


def test_a_floor_above_the_target_closes_the_throttle() -> None:
    throttling, share, steps = Throttling(), 1.0, 0
    work = Work(1, 1e6, 1e6, 1e6)
    while share > 0.001:
        seen = Observed(60.0, work, work, 2e5, share)
        told = throttling.adapt(seen, target=0.1, interval=5.0)
        assert told is not None
        share, steps = told.share, steps + 1
    assert steps == 3
    assert throttling.costs.unsaved(1e6) > 0.1


def test_it_opens_again_from_nothing() -> None:
    """A message of the user may have closed it."""
    throttling = Throttling()
    whole = Work(1, 1e4, 1e4, 1e5)
    seen = Observed(0.5, Work(1, 1e4, 0, 0), whole, rows_per_second=2e3, share=0.0)
    throttle = throttling.adapt(seen, TARGET, INTERVAL)
    assert throttle is not None
    assert throttle.share > 0


def test_nothing_is_sent_that_changes_nothing() -> None:
    """A micro-batch with nothing to join takes too long: shedding would not help."""
    nothing = Work(1, 0, 0, 0)
    seen = Observed(2 * TARGET, nothing, nothing, 0.0, share=1.0)
    assert Throttling().adapt(seen, TARGET, INTERVAL) is None
