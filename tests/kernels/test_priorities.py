"""Priorities row by row against levels, tables and quotients of whole columns."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.kernels.priorities import Rates, read_priorities, read_times
from shedjoin.kernels.rates import read_table
from shedjoin.models.curve import COUNTS, LEVELS, level_of


@pytest.mark.parametrize("streams", [2, 3])
def test_same_as_column_by_column(streams: int, rng: np.random.Generator) -> None:
    """Counts of all levels, none at all, and such on the edge of a level.

    Below the least level only the change of a count says anything.
    """
    slow = np.concatenate(
        [np.exp2(rng.uniform(-8, 14, 80)), np.exp2(np.arange(-6, 13))]
    )
    slow = np.append(slow, np.zeros(4))
    rows = slow.size
    stream, best = rng.integers(streams, size=rows), slow * rng.uniform(0.5, 2.0, rows)
    table, per_us = rng.random((streams, LEVELS, 5)), rng.uniform(0.01, 0.1, streams)
    age, found, rate = rng.integers(0, 80, rows), np.empty(rows), np.empty(rows)
    rates, bits = Rates(table, per_us, COUNTS), slow.view(np.int64)
    read_priorities(stream, slow, best, bits, age, rates, found)
    level = level_of(slow)
    read_table(stream, level, age, per_us, table, rate)
    change = np.divide(best, slow, out=np.ones(rows), where=slow > 0.0)
    times = np.where(level > 0, best / COUNTS[level], change)
    assert set(level.tolist()) >= {0, 1, LEVELS - 1}
    assert found.tolist() == (times * rate).tolist()
    read_times(slow, best, level, COUNTS, alone := np.empty(rows))
    assert alone.tolist() == times.tolist()
