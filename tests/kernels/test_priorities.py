"""Priorities row by row against levels, tables and quotients of whole columns."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.kernels.priorities import Rates, read_priorities
from shedjoin.kernels.rates import read_table
from shedjoin.models.curve import LEVELS, level_of


@pytest.mark.parametrize("streams", [2, 3])
def test_same_as_column_by_column(streams: int, rng: np.random.Generator) -> None:
    """Counts of all levels, none at all, and such on the edge of a level."""
    slow = np.concatenate(
        [np.exp2(rng.uniform(-4, 14, 80)), np.exp2(np.arange(-3, 13))]
    )
    slow = np.append(slow, np.zeros(4))
    rows = slow.size
    stream, best = rng.integers(streams, size=rows), slow * rng.uniform(0.5, 2.0, rows)
    table, per_us = rng.random((streams, LEVELS, 5)), rng.uniform(0.01, 0.1, streams)
    age, found, rate = rng.integers(0, 80, rows), np.empty(rows), np.empty(rows)
    rates, bits = Rates(table, per_us), slow.view(np.int64)
    read_priorities(stream, slow, best, bits, age, rates, found)
    read_table(stream, level_of(slow), age, per_us, table, rate)
    news = np.divide(best, slow, out=np.ones(rows), where=slow > 0.0)
    assert found.tolist() == (news * rate).tolist()
