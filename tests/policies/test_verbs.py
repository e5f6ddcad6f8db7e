"""Each verb does what it says, and coins fall the same way every time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from oracle import policies as slow
from oracle.shedding import Rules, simulate
from shedjoin.policies import EqCluster, Policy, Residents
from shedjoin.types import BoolArray, FloatArray

from .streams import pairs, random_arrivals, run

WINDOW = 9
PLENTY = 10_000


@dataclass(frozen=True, slots=True)
class OddKeys(Policy):
    """Odd keys alone take part."""

    def admit(self, arrivals: Residents) -> BoolArray:
        return np.asarray(arrivals.key % 2 == 1)


@dataclass(frozen=True, slots=True)
class LeftLooks(Policy):
    """Right rows do not look at the left side."""

    def probe(self, arrivals: Residents) -> BoolArray:
        return np.asarray(arrivals.stream == 0)


@dataclass(frozen=True, slots=True)
class Half(Policy):
    """Half of the rows may be stored."""

    def retain(self, arrivals: Residents) -> FloatArray:
        return np.full(arrivals.key.size, 0.5)


@dataclass(frozen=True, slots=True)
class Third(EqCluster):
    """A third of the matches are emitted."""

    thins: ClassVar[bool] = True

    def thin(self, arrivals: Residents) -> FloatArray:
        return np.full(arrivals.key.size, 1 / 3)


INSTANTS = random_arrivals(5, instants=400, per_instant=3)
EXACT = simulate(
    INSTANTS, slow.fifo, Rules("probe_then_insert", WINDOW, None, closed=True)
)
ROWS = [one for instant in INSTANTS for one in sorted(instant, key=lambda a: a.side)]


def test_admit() -> None:
    found = run(INSTANTS, OddKeys(), PLENTY, window=WINDOW)
    expected = [pair for pair in EXACT.pairs if ROWS[pair[0]].key % 2]
    assert pairs(found) == sorted(expected)
    assert found.report.unadmitted == sum(row.key % 2 == 0 for row in ROWS)


def test_probe() -> None:
    found = run(INSTANTS, LeftLooks(), PLENTY, window=WINDOW)
    expected = [(left, right) for left, right in EXACT.pairs if right < left]
    assert pairs(found) == sorted(expected)


def test_retain() -> None:
    found = run(INSTANTS, Half(), PLENTY, window=WINDOW)
    assert set(pairs(found)) < set(EXACT.pairs)
    share = found.report.unretained / len(ROWS)
    assert share == pytest.approx(0.5, abs=0.05)
    assert len(pairs(found)) == pytest.approx(0.5 * len(EXACT.pairs), rel=0.1)


def test_thin() -> None:
    found = pairs(run(INSTANTS, Third(), PLENTY, window=WINDOW))
    assert set(found) < set(EXACT.pairs)
    assert len(found) == pytest.approx(len(EXACT.pairs) / 3, rel=0.1)
    assert found == pairs(
        run(INSTANTS, Third(), PLENTY, window=WINDOW, per_batch=50, restart_every=2)
    )
