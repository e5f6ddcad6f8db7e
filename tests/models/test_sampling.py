"""What a sample can reach, against the formulas with every coin written out."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from shedjoin.models.sampling import Outlook, Rows, outlook, pps_sizes


def mean_place(fraction: float, coins: int) -> float:
    """Mean place of the last coin that wins, as a share of all; 0 if none does."""
    chances = (
        fraction * (1 - fraction) ** (coins - n) * n for n in range(1, coins + 1)
    )
    return sum(chances) / coins


def solved(use: Callable[[float], float], budget: float, high: float) -> float:
    """The number below ``high`` at which a rising function meets the budget."""
    low = 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if use(middle) < budget else (low, middle)
    return low


def random_rows(rng: np.random.Generator, count: int = 40) -> Rows:
    expected = rng.exponential(3.0, count)
    met = rng.poisson(expected).astype(float)
    return Rows(expected, met, rng.choice([0.2, 0.7, 0.75, 0.8, 1.0], count))


def plain_variances(
    rows: Rows, room: float, share: float, fraction: float
) -> list[float]:
    """Variances of a count under the three schemes, row by row."""
    columns = (column.tolist() for column in rows)
    mean, count = float(rows.expected.mean()), rows.expected.size
    sizes = [0.9 * one / mean + 0.1 for one in rows.expected.tolist()]
    scale = solved(lambda x: sum(min(1.0, x * one) for one in sizes), room, 1e6)
    eq = pps = uniform = seen = hidden = 0.0
    scatter = []
    for (expected, met, lived), size in zip(
        zip(*columns, strict=True), sizes, strict=True
    ):
        if lived < 0.75:
            continue
        whole, coins = met / lived, max(1.0, round(expected))
        eq += whole**2 * (count / room - 1.0)
        pps += whole**2 * (1.0 / min(1.0, scale * size) - 1.0)
        uniform += min(whole, coins) * (1.0 / fraction - 1.0)
        seen += max(0.0, whole - coins)
        scatter.append((whole - coins) ** 2 / coins)
        hidden += math.sqrt(coins / (2.0 * math.pi))
    luck = math.sqrt(min(1.0, sum(scatter) / len(scatter)))
    missed = max(seen, luck * hidden) / math.sqrt(share)
    return [eq, pps, uniform + (5.0 * missed) ** 2]


def total_places(coins: list[int], chance: float) -> float:
    """Rows in memory on average, over rows with so many coins."""
    return sum(mean_place(chance, count) for count in coins)


@pytest.mark.parametrize(("share", "capacity"), [(1.0, 10.0), (0.25, 60.0), (0.5, 4.0)])
def test_outlook(share: float, capacity: float, rng: np.random.Generator) -> None:
    for _ in range(5):
        rows, room = random_rows(rng), share * capacity
        coins = [max(1, round(one)) for one in rows.expected.tolist()]
        found = outlook(rows, share, capacity)
        fraction = solved(partial(total_places, coins), room, 1.0)
        assert found.fraction == pytest.approx(fraction)
        expected = plain_variances(rows, room, share, fraction)
        assert found.variance == pytest.approx(expected)
        least = int(np.argmin(expected))
        assert found.best == least
        assert (found.favours_pps, found.favours_uniform) == (least == 1, least == 2)


def test_everything_fits_or_nothing_is_known(rng: np.random.Generator) -> None:
    rows, nothing = random_rows(rng), (0.0, 0.0, 0.0)
    assert outlook(rows, 1.0, 40.0) == Outlook(1.0, nothing)
    assert outlook(rows, 0.01, 40.0) == Outlook(1.0, nothing)  # less than one row
    young = rows._replace(lived=np.full(40, 0.7))
    found = outlook(young, 1.0, 10.0)
    assert found.variance == nothing
    assert 0.0 < found.fraction < 1.0
    assert found.best == 0


def test_sizes_are_one_on_average(rng: np.random.Generator) -> None:
    expected = rng.exponential(5.0, 30)
    sizes = pps_sizes(expected, float(expected.mean()))
    assert sizes.mean() == pytest.approx(1.0)
    assert sizes.min() >= 0.1
    assert pps_sizes(expected, 0.0).tolist() == [1.0] * 30
