"""What a sample can reach, against the formulas with every coin written out."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from shedjoin.models.sampling import Outlook, Rows, outlook, pps_sizes, value_sizes


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
    lived = rng.choice([0.2, 0.7, 0.75, 0.8, 1.0], count)
    return Rows(expected, met, lived, value=np.ones(count), total=met, squares=met)


def valued_rows(rng: np.random.Generator) -> Rows:
    """Rows whose own values differ, as those of their matches do."""
    rows = random_rows(rng)
    own = rng.lognormal(-0.5, 1.0, rows.met.size)
    theirs = [rng.normal(1.0, 1.0, int(met)) for met in rows.met]
    return rows._replace(
        value=value_sizes(own),
        total=own * [each.sum() for each in theirs],
        squares=own**2 * [(each**2).sum() for each in theirs],
    )


def plain_variances(
    rows: Rows, room: float, share: float, fraction: float
) -> list[float]:
    """Variances of a sum under the three schemes, row by row."""
    columns = (column.tolist() for column in rows)
    mean = float(rows.expected.mean())
    sizes = [
        (0.9 * expected / mean + 0.1) * value
        for expected, value in zip(rows.expected, rows.value, strict=True)
    ]
    scale = solved(lambda x: sum(min(1.0, x * one) for one in sizes), room, 1e6)
    values = rows.value.tolist()
    even = solved(lambda x: sum(min(1.0, x * one) for one in values), room, 1e6)
    eq = pps = uniform = seen = hidden = results = worth = 0.0
    scatter = []
    for (expected, met, lived, value, total, squares), size in zip(
        zip(*columns, strict=True), sizes, strict=True
    ):
        if lived < 0.75:
            continue
        whole, coins = met / lived, max(1.0, round(expected))
        eq += (total / lived) ** 2 * (1.0 / min(1.0, even * value) - 1.0)
        pps += (total / lived) ** 2 * (1.0 / min(1.0, scale * size) - 1.0)
        if met:
            uniform += squares / met * min(whole, coins) * (1.0 / fraction - 1.0)
        results += whole
        worth += abs(total) / lived
        seen += max(0.0, whole - coins)
        scatter.append((whole - coins) ** 2 / coins)
        hidden += math.sqrt(coins / (2.0 * math.pi))
    luck = math.sqrt(min(1.0, sum(scatter) / len(scatter)))
    missed = worth / results * max(seen, luck * hidden) / math.sqrt(share)
    return [eq, pps, uniform + (5.0 * missed) ** 2]


def total_places(coins: list[int], chance: float) -> float:
    """Rows in memory on average, over rows with so many coins."""
    return sum(mean_place(chance, count) for count in coins)


@pytest.mark.parametrize("made", [random_rows, valued_rows])
@pytest.mark.parametrize(("share", "capacity"), [(1.0, 10.0), (0.25, 60.0), (0.5, 4.0)])
def test_outlook(
    made: Callable[[np.random.Generator], Rows],
    share: float,
    capacity: float,
    rng: np.random.Generator,
) -> None:
    for _ in range(5):
        rows, room = made(rng), share * capacity
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


def test_no_value_is_without_a_size() -> None:
    """Signs do not matter, and what is below 5 % of the mean counts as that."""
    relative = np.array([0.0, 0.01, 0.2, 1.0, 30.0])
    assert value_sizes(relative).tolist() == [0.05, 0.05, 0.2, 1.0, 30.0]
    assert value_sizes(-relative).tolist() == [0.05, 0.05, 0.2, 1.0, 30.0]
