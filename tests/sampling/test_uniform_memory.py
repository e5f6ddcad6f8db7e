"""What uniform samples hold: the plan beside matches spread over a window."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, Within
from shedjoin.lab import plan
from shedjoin.lab.plan import AgeModel
from shedjoin.local.join import join
from shedjoin.policies import Policy, Uniform

from .arrivals import START, TIMES
from .planned import WINDOW_S
from .policies import FixedCoins


def spread_matches(rows: int, *, even: bool) -> list[tuple[pa.Table, pa.Table]]:
    """Left rows of which each has five matches: at every fifth of the window, or not.

    One left row comes every second, and right rows have no matches after them.
    """
    rng = np.random.default_rng(3)
    ages = np.tile(np.arange(1, 6) / 5.0 - 0.001, (rows, 1))
    if not even:
        ages = np.sort(rng.random((rows, 5)), axis=1)
    left_s = np.arange(rows, dtype=np.float64)
    right_s = (left_s[:, None] + WINDOW_S * ages).reshape(-1)
    order = np.argsort(right_s)
    sides = ((np.arange(rows), left_s), (np.repeat(np.arange(rows), 5), right_s))
    order_of = (np.arange(rows), order)
    tables = [
        _timed(key[order_of[side]], time[order_of[side]], TIMES[side])
        for side, (key, time) in enumerate(sides)
    ]
    cuts = range(0, rows + WINDOW_S + 1, 50)
    return [
        (_cut(tables[0], 0, a, b), _cut(tables[1], 1, a, b)) for a, b in pairwise(cuts)
    ]


def _timed(
    key: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    seconds: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    name: str,
) -> pa.Table:
    time_us = ((START + seconds) * 1e6).astype(np.int64)
    return pa.table({"key": key, name: pa.array(time_us, pa.timestamp("us", "UTC"))})


def _cut(table: pa.Table, side: int, first: float, end: float) -> pa.Table:
    seconds = table[TIMES[side]].cast(pa.int64()).to_numpy() / 1e6 - START
    return table.filter(pa.array((first <= seconds) & (seconds < end)))


def left_residents(policy: Policy, *, even: bool) -> float:
    rows = 6000
    found = join(
        spread_matches(rows, even=even),
        on="key",
        within=Within(before=f"{WINDOW_S} seconds", after=f"{WINDOW_S} seconds"),
        time=TIMES,
        budget=Budget(rows=10**6),
        keep=policy,
    )
    reports = [batch.report for batch in found.batches[20 : rows // 50]]
    return float(np.mean([report.resident[0] for report in reports]))


@pytest.mark.parametrize("memory", [10, 40, 80])
@pytest.mark.parametrize("learned", [False, True])
def test_uniform_holds_what_theorem_4_3_says(memory: int, learned: bool) -> None:
    """Matches are evenly spread: predicted within 7 %."""
    window = AgeModel([1.0] * 5, rate=WINDOW_S / 5)
    fraction = plan.uniform_fraction(memory, window)
    assert plan.uniform_memory(fraction, window) == pytest.approx(memory)
    policy = Uniform(fraction) if learned else FixedCoins(5, fraction)
    assert left_residents(policy, even=True) == pytest.approx(memory, rel=0.07)


@pytest.mark.parametrize("memory", [10, 40, 80])
def test_matches_at_random_times_need_less(memory: int) -> None:
    """The l-th of five comes after l / 6 of the window, not l / 5."""
    window = AgeModel([1.0] * 5, rate=WINDOW_S / 5)
    fraction = plan.uniform_fraction(memory, window)
    held = left_residents(FixedCoins(5, fraction), even=False)
    assert held == pytest.approx(memory * 5 / 6, rel=0.07)
