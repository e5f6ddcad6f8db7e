"""What is missing, estimated from some keys, against the truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from shedjoin.models.meter import GROUPS, Meter, Metered, Missed
from shedjoin.types import BoolArray, FloatArray, IntArray

from .rooms import room

KEYS, FREQUENT, ROWS = 3000, 30, 4000
"""Of these keys, those that have more than 1/512 of the results are counted exactly."""
POPULARITY = 1.0 / np.arange(1, KEYS + 1) ** 0.8
POPULARITY /= POPULARITY.sum()
QUANTILE = 2.04
"""Of Student's t with as many degrees of freedom as groups, for 95 percent."""


def empty() -> Meter:
    return Meter(room(Meter.shapes(2)), 2)


class Keys(NamedTuple):
    """What is drawn once: who is watched, groups, and how much of a key is found."""

    watched: BoolArray
    group: IntArray
    kept: FloatArray
    importance: FloatArray

    @classmethod
    def draw(cls, share: float, rng: np.random.Generator) -> Keys:
        """Keys differ in what is found of them, as under a budget."""
        return cls(
            rng.random(KEYS) < share,
            rng.integers(GROUPS, size=KEYS),
            rng.random(KEYS),
            rng.exponential(size=KEYS),
        )


def arrive(
    keys: Keys, rng: np.random.Generator, frequent: int = FREQUENT
) -> tuple[Metered, float, float]:
    """A micro-batch; the results that it misses, and their importance."""
    key = rng.choice(KEYS, ROWS, p=POPULARITY)
    exact = rng.poisson(ROWS * POPULARITY[key])
    found = rng.binomial(exact, keys.kept[key])
    known = keys.watched[key] | (key < frequent)
    visible, importance = np.where(known, exact, 0.0), keys.importance[key]
    rows = Metered(
        stream=rng.integers(2, size=ROWS),
        frequent=key < frequent,
        watched=keys.watched[key],
        group=keys.group[key],
        exact=visible,
        found=found.astype(np.float64),
        worth=visible * importance,
        gained=found * importance,
    )
    missed = exact - found
    return rows, float(missed.sum()), float(missed @ importance)


class Run(NamedTuple):
    """The last micro-batch and all together: what was estimated, and the truth."""

    last: Missed
    uncertain: Missed
    total: float
    truth: float
    importance: float
    total_truth: float


def run(share: float, seed: int, batches: int = 6) -> Run:
    """Meter some micro-batches of the same keys."""
    rng = np.random.default_rng(seed)
    keys, meter = Keys.draw(share, rng), empty()
    total = total_truth = 0.0
    for _ in range(batches):
        rows, truth, importance = arrive(keys, rng)
        meter.begin()
        meter.add(rows, share)
        last, uncertain = meter.end(share, 0.9)
        total += last.results
        total_truth += truth
    return Run(last, uncertain, total, truth, importance, total_truth)


@pytest.fixture(scope="module", params=[1 / 4, 1 / 16])
def runs(request: pytest.FixtureRequest) -> list[Run]:
    """Many runs, each with keys of its own."""
    return [run(request.param, seed) for seed in range(150)]


def errors(runs: list[Run]) -> list[tuple[FloatArray, FloatArray]]:
    """Errors and variances: of the last results, their importance, all results."""
    found = [
        (
            (each.last.results - each.truth, each.last.variance),
            (each.last.importance - each.importance, each.last.importance_variance),
            (each.total - each.total_truth, each.uncertain.variance),
        )
        for each in runs
    ]
    kinds = zip(*found, strict=True)
    return [(np.array(kind)[:, 0], np.array(kind)[:, 1]) for kind in kinds]


def test_estimates_are_right_on_average(runs: list[Run]) -> None:
    """The mean error is what chance allows, or half a percent of the truth."""
    truths = (
        np.mean([each.truth for each in runs]),
        np.mean([each.importance for each in runs]),
        np.mean([each.total_truth for each in runs]),
    )
    for (error, _), truth in zip(errors(runs), truths, strict=True):
        chance = 3.5 * error.std() / np.sqrt(error.size)
        assert abs(error.mean()) <= max(chance, 0.005 * truth)
        assert error.std() < 0.05 * truth


def test_intervals_cover_the_truth(runs: list[Run]) -> None:
    """Nearly as often as they say, which is in 95 of 100 runs.

    A sixteenth of the keys is six in a group, of which one may have all the results.
    """
    for error, variance in errors(runs):
        assert np.mean(abs(error) <= QUANTILE * np.sqrt(variance)) >= 0.82


@pytest.mark.parametrize("everything", ["watched", "frequent"])
def test_nothing_is_uncertain_if_all_is_known(
    everything: str, rng: np.random.Generator
) -> None:
    """Whether keys are monitored or counted exactly."""
    is_watched = everything == "watched"
    share, frequent = (1.0, FREQUENT) if is_watched else (0.25, KEYS)
    keys, meter = Keys.draw(share, rng), empty()
    for _ in range(3):
        rows, truth, importance = arrive(keys, rng, frequent)
        meter.begin()
        meter.add(rows, share)
        last, uncertain = meter.end(share, 0.9)
        assert last == pytest.approx((truth, 0.0, importance, 0.0))
        assert uncertain == Missed()
        assert meter.exact == pytest.approx(float(rows.found.sum()) + truth)


def test_what_all_keys_found_corrects_a_sample_that_had_little() -> None:
    """What is missed goes with what is found: ten per result, in every group."""
    meter, group = empty(), np.arange(2 * GROUPS) % GROUPS
    watched = np.arange(2 * GROUPS) < GROUPS
    found = np.where(watched, 1.0 + group, 100.0)
    exact = np.where(watched, 11.0 * found, 0.0)
    nobody, stream = np.zeros(group.size, np.bool_), np.zeros(group.size, np.int64)
    rows = Metered(stream, nobody, watched, group, exact, found, exact, found)
    meter.add(rows, 0.5)
    truth = 10.0 * found.sum()
    plain = (exact - found)[watched].sum() / 0.5
    estimate = meter.end(0.5, 1.0)[0].results
    assert plain < 0.4 * truth
    assert estimate == pytest.approx(truth, rel=0.05)
