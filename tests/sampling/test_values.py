"""Samples by value: its sum has a smaller error, and all else stays unbiased."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from shedjoin import Budget, Sample, Within, local
from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError, ShedjoinError
from shedjoin.lab.workloads.workloads import Frequencies, zipf
from shedjoin.policies import BestSample, EqCluster, Policy, PpsCluster, Uniform
from shedjoin.policies.goals import Goal
from shedjoin.types import FloatArray
from support.asked import asked
from support.related import star_join

from .estimates import Estimates, estimates
from .streams import Stream, column, known, sample

RUNS = 400
COUNT, SUM = range(2)
UNBIASED = [COUNT, SUM]
WINDOW_S, SECONDS = 100, 600
Values = Literal["log-normal", "mixed"]


def by_value(seed: int, of: object = "left_value") -> Sample:
    """The sample of ``Sample(of="left_value")``, by a seed of its own."""
    return Sample(of=of, by=BestSample(seed))


@cache
def auctions(values: Values, *, left_waits_alone: bool = True) -> Stream:
    """Two rows a second of each side with one of thirty keys, and left values."""
    frequencies = Frequencies(keys=30, z=0.5, correlated="uncorrelated", seed=3)
    batches = zipf(frequencies, rows=1200, seconds=SECONDS, batches=3, seed=5)
    rng, valued = np.random.default_rng(7), []
    for left, right in batches:
        value = rng.lognormal(0.0, 1.0, left.num_rows)
        if values == "mixed":
            value *= rng.choice([-1.0, 0.0, 0.0, 1.0, 2.0], left.num_rows)
        valued.append((_replaced(left, value), right))
    return known(valued, WINDOW_S, SECONDS, left_waits_alone=left_waits_alone)


def _replaced(left: pa.Table, value: FloatArray) -> pa.Table:
    at = left.column_names.index("left_value")
    return left.set_column(at, "left_value", pa.array(value))


def errors(found: Estimates) -> FloatArray:
    """Relative standard errors of count, sum and mean."""
    spread: FloatArray = found.value.std(axis=0, ddof=1)
    return spread


def test_a_few_sums_have_a_smaller_error() -> None:
    stream = auctions("log-normal")
    found = estimates(stream, by_value, 0.25, 100)
    plain = estimates(stream, BestSample, 0.25, 100)
    said = f"by value\n{found}\nwithout\n{plain}"
    assert np.abs(found.bias[UNBIASED]).max() < 3.0, said
    assert found.coverage.min() >= 0.8, said
    assert errors(found)[SUM] <= 0.7 * errors(plain)[SUM], said


@pytest.mark.long
@pytest.mark.parametrize(
    ("left_waits_alone", "part"), [(True, 0.7), (False, 0.9)], ids=["left", "both"]
)
def test_unbiased_with_honest_intervals(*, left_waits_alone: bool, part: float) -> None:
    """Of 400 samples, 95 % of the intervals hold; a standard error is 1.1 %.

    A row that waits without a value of its own stands for many values, which it does
    not know: where both sides wait, less is gained.
    """
    stream = auctions("log-normal", left_waits_alone=left_waits_alone)
    found = estimates(stream, by_value, 0.25, RUNS)
    plain = estimates(stream, BestSample, 0.25, RUNS)
    said = f"by value\n{found}\nwithout\n{plain}"
    assert np.abs(found.bias[UNBIASED]).max() < 3.0, said
    assert 0.93 <= found.coverage[SUM] <= 0.97, said
    assert found.coverage[COUNT] >= 0.92, said
    assert errors(found)[SUM] <= part * errors(plain)[SUM], said
    assert found.trusted[SUM] >= 0.9, said


@pytest.mark.long
def test_values_below_zero_and_none_at_all() -> None:
    """Two fifths of the values are zero, a fifth is negative."""
    found = estimates(auctions("mixed"), by_value, 0.25, RUNS)
    assert np.abs(found.bias[UNBIASED]).max() < 3.0, str(found)
    assert found.coverage[UNBIASED].min() >= 0.92, str(found)


def changed(stream: Stream, value: Callable[[pa.Array], pa.Array]) -> Stream:
    """The same rows with other left values."""
    batches = tuple(
        (_replaced(left, value(left["left_value"])), right)
        for left, right in stream.batches
    )
    return replace(stream, batches=batches)


def drawn(stream: Stream, keep: Goal | Policy) -> pa.Table:
    """Pairs that a sample holds, and their weights."""
    found = sample(stream, keep, stream.rows(0.25), shards=2).results
    return found.select(["left_time", "right_time", "_weight", "_cluster"])


def test_units_and_signs_do_not_matter() -> None:
    stream = auctions("log-normal")
    expected = drawn(stream, by_value(3))
    assert not expected.equals(drawn(stream, BestSample(3)))
    other = changed(stream, partial(pc.multiply, -1024.0))
    assert drawn(other, by_value(3)).equals(expected)


def test_nulls_count_as_zero() -> None:
    stream = auctions("mixed")
    nulls = changed(stream, lambda value: pc.if_else(pc.equal(value, 0.0), None, value))
    expected = drawn(stream, by_value(3))
    assert drawn(nulls, by_value(3)).equals(expected)
    assert expected["_weight"].to_numpy().max() < np.inf


def test_values_that_are_all_the_same_change_nothing() -> None:
    stream = changed(
        auctions("log-normal"), lambda value: pa.array(np.ones(len(value)))
    )
    assert drawn(stream, by_value(3)).equals(drawn(stream, BestSample(3)))


def test_a_value_beyond_all_measure_does_no_harm() -> None:
    stream = auctions("log-normal")
    large = changed(
        stream, lambda value: pc.if_else(pc.greater(value, 20.0), np.inf, value)
    )
    found = drawn(large, by_value(3))
    assert np.isfinite(found["_weight"].to_numpy()).all()


def test_the_value_of_a_pair_is_the_product() -> None:
    """It is what the report adds up, over the results that were emitted."""
    stream = auctions("log-normal")
    rows = stream.rows(0.25)
    found = sample(stream, by_value(3, ("left_value", "right_value")), rows)
    each = (column(found, name) for name in ("left_value", "right_value"))
    assert found.report.importance == pytest.approx(np.prod(list(each), axis=0).sum())
    one = sample(stream, by_value(3), rows)
    assert one.report.importance == pytest.approx(column(one, "left_value").sum())


def test_keys_that_are_alike_leave_the_choice_to_values() -> None:
    """Rows are drawn by value also if expected matches say nothing.

    By EqCluster or by PpsCluster: where keys are alike these two are the same.
    """
    frequencies = Frequencies(keys=30, z=0.0, seed=2)
    batches = zipf(frequencies, rows=1200, seconds=SECONDS, batches=3, seed=5)
    stream = known(batches, WINDOW_S, SECONDS, left_waits_alone=True)
    values = np.random.default_rng(7).lognormal(0.0, 1.0, 1200)
    stream = changed(stream, lambda old: pa.array(values[: len(old)]))
    found = sample(stream, by_value(3), stream.rows(0.25))
    assert found.batches[-1].report.scheme.startswith(("EqCluster", "PpsCluster"))
    value, weight = column(found, "left_value"), column(found, "_weight")
    assert weight[value > 2.0].mean() < 0.5 * weight[value < 1.0].mean()


ROWS = pa.table({"k": [1], "t": pa.array([5], pa.timestamp("us")), "n": ["x"]})
WRONG: dict[str, tuple[object, type[ShedjoinError], str, str]] = {
    "no such column": (
        *("bid", ColumnError, "goes by the column 'bid', which no stream has"),
        r"left has \['k', 't', 'n'\]",
    ),
    "not on that side": (
        *((None, "bid"), ColumnError, "the right stream has no column 'bid'"),
        "use one of its columns",
    ),
    "three sides": (
        *(("n", "n", "n"), ParameterError, "is not one for each of left, right"),
        "importance of some streams",
    ),
    "no column": (
        *(7, ParameterError, "goes by 7, which does not say of which stream"),
        "importance of some streams",
    ),
    "text": (
        *(
            "n",
            ColumnTypeError,
            "column 'n' of the left stream, which is of type string",
        ),
        "pass a column of numbers",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_columns(case: str) -> None:
    of, kind, problem, fix = WRONG[case]
    with pytest.raises(kind, match=f"{problem}.*\nFix: .*{fix}"):
        local.join(
            [(ROWS, ROWS)],
            on="k",
            within=Within(after="1 second"),
            time=("t", "t"),
            budget=Budget(rows=5),
            keep=Sample(of=of),
        )


@pytest.mark.parametrize("by", [EqCluster(), Uniform(0.5)], ids=str)
def test_schemes_that_know_no_value(by: Policy) -> None:
    with pytest.raises(ParameterError, match=r"does not go by values(.|\n)*PpsCluster"):
        Sample(of="bid", by=by)
    assert Sample(of="bid", by=PpsCluster(3)).policy(seed=0) == PpsCluster(3)


def test_only_for_two_streams_by_key() -> None:
    settings: dict[str, Any] = {"budget": Budget(rows=5), "keep": Sample(of="k")}
    with pytest.raises(ParameterError, match="draws a sample"):
        local.multijoin(
            [{"a": ROWS, "b": ROWS, "c": ROWS}],
            on="k",
            within="1 second",
            time=dict.fromkeys("abc", "t"),
            **asked(settings),
        )
    with pytest.raises(ParameterError, match="draws a sample"):
        star_join(
            [(ROWS, ROWS)],
            pa.table({"a": [1], "b": [1]}),
            on=(("k", "a"), ("k", "b")),
            within=Within(after="1 second"),
            time=("t", "t"),
            **asked(settings),
        )
