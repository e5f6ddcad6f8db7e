"""The synthetic workloads hold what they promise; seeds are fixed, so tests repeat."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from shedjoin.errors import ParameterError
from shedjoin.lab.workloads.markets import auctions, impressions
from shedjoin.lab.workloads.rows import Batches
from shedjoin.lab.workloads.workloads import (
    Correlation,
    Curve,
    Floats,
    Frequencies,
    age_curve,
    aged,
    zipf,
)
from shedjoin.local.streams import START_US
from shedjoin.types import IntArray
from support.sides import LEFT, RIGHT, SIDES, Side

SECOND_US = 1_000_000
DRIFTING = Frequencies(keys=50, z=1.0, drift_s=100, drift_part=0.4, seed=5)

# Name of the key and of the two event times, and a small run of 1000 s and 10 batches.
Small = Callable[[int], Batches]
WORKLOADS: dict[str, tuple[str, str, str, Small]] = {
    "zipf": (
        "key",
        "left_time",
        "right_time",
        lambda seed: zipf(DRIFTING, rows=4000, seconds=1000, batches=10, seed=seed),
    ),
    "aged": (
        "key",
        "left_time",
        "right_time",
        lambda seed: aged(curve="INC", rate=4, seconds=1000, batches=10, seed=seed),
    ),
    "auctions": (
        "auction_id",
        "opened_at",
        "bid_at",
        lambda seed: auctions(auctions=4000, seconds=1000, batches=10, seed=seed),
    ),
    "impressions": (
        "user_id",
        "shown_at",
        "clicked_at",
        lambda seed: impressions(
            impressions=4000, users=300, seconds=1000, batches=10, seed=seed
        ),
    ),
}


def whole(batches: Batches, side: Side) -> pa.Table:
    return pa.concat_tables(batch[side] for batch in batches)


def numbers(table: pa.Table, name: str) -> IntArray:
    values: IntArray = table.column(name).cast(pa.int64()).to_numpy()
    return values


def seconds(table: pa.Table, name: str) -> Floats:
    return (numbers(table, name) - START_US) / SECOND_US


def each() -> Iterator[tuple[str, str, str, Batches]]:
    for key, left, right, make in WORKLOADS.values():
        yield key, left, right, make(3)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_seed_fixes_the_tables(name: str) -> None:
    make = WORKLOADS[name][-1]
    assert make(3) == make(3)
    assert make(3) != make(4)


def test_rows_are_in_time_order_and_cut_by_time() -> None:
    for key, *times, batches in each():
        assert len(batches) == 10
        for side in SIDES:
            assert (np.diff(numbers(whole(batches, side), times[side])) >= 0).all()
            for number, batch in enumerate(batches):
                when = seconds(batch[side], times[side])
                assert (when >= 100 * number).all()
                assert (when < 100 * (number + 1)).all()
            assert batches[0][side].column(key).null_count == 0


def test_rows_are_some_hundred_bytes_long() -> None:
    for *_, batches in each():
        for side in SIDES:
            table = whole(batches, side)
            assert 90 <= table.nbytes / table.num_rows <= 110


@pytest.mark.parametrize("side", SIDES)
def test_zipf_keys_come_as_often_as_promised(side: Side) -> None:
    batches = zipf(DRIFTING, rows=200_000, seconds=1000, batches=10, seed=1)
    assert whole(batches, side).num_rows == 200_000
    for number, batch in enumerate(batches):  # a batch lasts as long as a ranking
        truth = DRIFTING.at(side, START_US + number * 100 * SECOND_US)
        seen = np.bincount(numbers(batch[side], "key"), minlength=50)
        rows = batch[side].num_rows
        assert abs(rows - 20_000) < 4 * 20_000**0.5
        spread = (rows * truth * (1 - truth)) ** 0.5
        assert (np.abs(seen - rows * truth) < 5 * spread).all()


def test_zipf_frequencies_follow_the_power_law() -> None:
    sorted_ = np.sort(Frequencies(keys=100, z=0.7).at(LEFT, START_US))[::-1]
    assert sorted_.sum() == pytest.approx(1)
    assert sorted_[0] / sorted_[31] == pytest.approx(32**0.7)
    assert Frequencies(keys=8, z=0).at(RIGHT, START_US).tolist() == [0.125] * 8


@pytest.mark.parametrize(
    ("correlated", "low", "high"),
    [("direct", 1, 1), ("inverse", -1, -1), ("uncorrelated", -0.2, 0.2)],
)
def test_zipf_sides_are_correlated(
    correlated: Correlation, low: float, high: float
) -> None:
    model = Frequencies(keys=1000, correlated=correlated, drift_s=10, seed=2)
    for time_us in (START_US, START_US + 95 * SECOND_US):
        ranks = [np.argsort(np.argsort(model.at(side, time_us))) for side in SIDES]
        assert low - 1e-9 <= np.corrcoef(ranks[0], ranks[1])[0, 1] <= high + 1e-9


def test_drift_moves_the_promised_part() -> None:
    steps = [DRIFTING.at(LEFT, START_US + n * 100 * SECOND_US) for n in range(9)]
    assert [int((a != b).sum()) for a, b in pairwise(steps)] == [20] * 8
    just_before = DRIFTING.at(LEFT, START_US + 100 * SECOND_US - 1)
    assert (just_before == steps[0]).all()
    still = Frequencies(keys=50, seed=5)
    assert (still.at(LEFT, START_US) == still.at(LEFT, 2 * START_US)).all()


@pytest.mark.parametrize("curve", ["INC", "DEC", "BELL"])
def test_aged_matches_follow_the_curve(curve: Curve) -> None:
    batches = aged(curve=curve, rate=20, seconds=4000, batches=8, seed=9)
    left, right = (whole(batches, side) for side in SIDES)
    opened, met = seconds(left, "left_time"), seconds(right, "right_time")
    key = numbers(right, "key")
    assert left.num_rows == pytest.approx(20 * 4000, rel=0.01)
    assert right.num_rows == pytest.approx(5 * 20 * 4000, rel=0.01)
    assert (np.diff(opened).min(), np.diff(opened).max()) == pytest.approx(
        (0.02, 0.08), rel=0.01
    )
    assert len(set(numbers(left, "key"))) == left.num_rows
    assert len(set(key[key < 0])) == (key < 0).sum()  # these match nothing
    assert (key[met > 501] >= 0).all()
    ages = met[key >= 0] - opened[key[key >= 0]]
    assert (ages.min() >= 0, ages.max() < 500) == (True, True)
    complete = (opened[key[key >= 0]] >= 500) & (opened[key[key >= 0]] < 3500)
    found = np.histogram(ages[complete], 20, (0, 500))[0] / (20 * 3000)
    assert found == pytest.approx(age_curve(curve), rel=0.06, abs=0.004)


def test_age_curves_are_those_of_the_paper() -> None:
    rising, falling, bell = (
        age_curve(curve, matches=1, buckets=4) for curve in ("INC", "DEC", "BELL")
    )
    assert rising == pytest.approx(np.array([1, 4, 9, 16]) / 30)
    assert falling == pytest.approx(np.array([9, 4, 1, 0]) / 14)
    assert bell == pytest.approx(np.array([1, 4, 1, 0]) / 6)
    assert age_curve("INC").sum() == pytest.approx(5)


def test_bids_become_denser_until_the_auction_closes() -> None:
    batches = auctions(auctions=40_000, seconds=2000, batches=10, seed=1, open_s=500)
    left, right = (whole(batches, side) for side in SIDES)
    opened, bid = seconds(left, "opened_at"), seconds(right, "bid_at")
    auction = numbers(right, "auction_id")
    ages = bid - opened[auction]
    assert (ages.min() >= 0, ages.max() <= 500) == (True, True)
    complete = opened[auction] < 1500
    share = np.histogram(ages[complete], 5, (0, 500))[0] / complete.sum()
    assert share == pytest.approx(np.diff(np.linspace(0, 1, 6) ** 3), abs=0.01)
    bids = np.bincount(auction, minlength=40_000)[opened < 1500]
    assert bids.mean() == pytest.approx(5, rel=0.05)
    assert bids.std() > 1.5 * bids.mean() ** 0.5  # more than chance alone


def test_clicks_decay_and_users_and_prices_differ() -> None:
    batches = impressions(
        impressions=100_000, users=2000, seconds=5000, batches=10, seed=1
    )
    left, right = (whole(batches, side) for side in SIDES)
    shown, clicked = seconds(left, "shown_at"), seconds(right, "clicked_at")
    user, clicker = numbers(left, "user_id"), numbers(right, "user_id")
    assert right.num_rows == pytest.approx(0.1 * 100_000, rel=0.15)
    per_user = np.bincount(user, minlength=2000)
    assert per_user.max() > 10 * np.median(per_user)
    price = np.sort(left.column("price").to_numpy())
    assert 0.5 < price[-10_000:].sum() / price.sum() < 0.75
    rates = np.bincount(clicker, minlength=2000) / np.maximum(per_user, 1)
    assert np.quantile(rates, 0.95) > 3 * rates.mean()
    # The impression of a click's own user and ad that came last before it.
    last: dict[tuple[int, int], float] = {}
    waits, place = [], 0
    ads, wanted = numbers(left, "ad_id"), numbers(right, "clicked_ad")
    for now, who, what in zip(clicked, clicker, wanted, strict=True):
        while place < shown.size and shown[place] <= now:
            last[user[place], ads[place]] = shown[place]
            place += 1
        waits.append(now - last[who, what])
    assert np.median(waits) == pytest.approx(120 * np.log(2), rel=0.05)


def test_unknown_choices_are_refused() -> None:
    with pytest.raises(ParameterError, match="direct"):
        Frequencies(keys=2, correlated="none")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="BELL"):
        age_curve("FLAT")  # type: ignore[arg-type]
