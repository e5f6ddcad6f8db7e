"""Memory and work of uniform samples, beside what the plan says of frequencies."""

from __future__ import annotations

import pytest

from shedjoin.lab import plan
from shedjoin.lab.plan import Costs
from shedjoin.lab.workloads.workloads import Correlation
from shedjoin.local.run import Run
from shedjoin.policies import Uniform

from .planned import BATCH_S, RATE, WINDOW_S, Told, held, streams, windows
from .streams import sample

PLENTY = 10**6
COSTS = Costs(update=0.02, match=0.004)
CORRELATIONS: tuple[Correlation, ...] = ("direct", "inverse", "uncorrelated")


def work_done(run: Run, *, after: int = 8) -> float:
    """Insertions and sampled matches per second, at their costs."""
    reports = [batch.report for batch in run.batches[after:]]
    stored = sum(report.stored[0] + report.stored[1] for report in reports)
    matched = sum(report.matched for report in reports)
    work = stored * COSTS.update + matched * COSTS.match
    return work / (BATCH_S * len(reports))


@pytest.mark.parametrize("correlated", CORRELATIONS)
@pytest.mark.parametrize("part", [0.2, 0.5])
def test_memory_is_what_theorem_4_2_says_or_less(
    correlated: Correlation, part: float
) -> None:
    """Matches come at random times, so that rows leave up to 15 % earlier."""
    memory = part * 2 * RATE * WINDOW_S
    fraction = plan.uniform_fraction(memory, *windows(correlated))
    policy = Told(fraction, correlated=correlated)
    found = held(sample(streams(correlated), policy, PLENTY))
    assert 0.85 * memory < found < 1.02 * memory


@pytest.mark.parametrize("correlated", CORRELATIONS)
@pytest.mark.parametrize("part", [0.2, 0.5])
def test_work_is_what_equation_25_says(correlated: Correlation, part: float) -> None:
    """Within 7 %: rows match as often as they do, and coins are whole numbers."""
    both = windows(correlated)
    work = part * plan.sampled_work(1.0, *both, costs=COSTS)
    fraction = plan.work_fraction(work, *both, costs=COSTS)
    policy = Told(fraction, correlated=correlated)
    found = sample(streams(correlated), policy, PLENTY)
    assert work_done(found) == pytest.approx(work, rel=0.07)


@pytest.mark.slow
@pytest.mark.parametrize("correlated", CORRELATIONS)
def test_learned_matches_fit_memory_and_work(correlated: Correlation) -> None:
    """After 24 windows: memory at most a tenth above the plan, work within 10 %."""
    both, stream = windows(correlated), streams(correlated, 4800)
    memory = 0.3 * 2 * RATE * WINDOW_S
    fraction = plan.uniform_fraction(memory, *both)
    found = held(sample(stream, Uniform(fraction), PLENTY), after=48)
    assert 0.8 * memory < found < 1.1 * memory
    work = 0.3 * plan.sampled_work(1.0, *both, costs=COSTS)
    fraction = plan.work_fraction(work, *both, costs=COSTS)
    found = work_done(sample(stream, Uniform(fraction), PLENTY), after=48)
    assert found == pytest.approx(work, rel=0.1)
