"""Joins by predicates give what every combination of rows gives."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from oracle.predicates import predicate_join
from shedjoin import Band, Where, Within, local
from shedjoin.errors import ParameterError
from shedjoin.spec.predicates import Test as Function
from shedjoin.types import BoolArray

from .predicates import INF, KINDS, LEAST, MOST, NAN, Case

Values = np.ndarray[Any, Any]


@pytest.mark.parametrize("first", range(0, 300, 25))
def test_equals_the_oracle(first: int) -> None:
    for seed in range(first, first + 25):
        case = Case(seed)
        found = case.run(
            shards=1 + seed % 5, restart_every=seed % 3, blobs=1 + seed % 3
        )
        expected = predicate_join(case.batches, case.join)
        for number, batch in enumerate(found.batches):
            assert case.results_of(batch) == expected[number], (seed, number)
            assert batch.report.matched == expected[number].total()


def test_the_cases_reach_every_corner() -> None:
    cases = [Case(seed) for seed in range(0, 300, 5)]
    assert {case.kind for case in cases} == set(KINDS)
    for streams in (2, 3, 4, 5):
        some = [case for case in cases if len(case.names) == streams]
        found = [predicate_join(case.batches, case.join) for case in some]
        assert sum(sum(map(len, each)) > 5 for each in found) > 2, streams
    reports = [case.run().report for case in cases]
    assert sum(any(report.late) for report in reports) > 5
    assert sum(any(report.expired) for report in reports) > 5


def pair_of(x: list[Any], y: list[Any], kind: pa.DataType) -> tuple[pa.Table, pa.Table]:
    time = pa.timestamp("us")

    def table(values: list[Any], name: str) -> pa.Table:
        at = pa.array([1_000_000] * len(values), pa.int64()).cast(time)
        return pa.table({name: pa.array(values, kind), f"t_{name}": at})

    return table(x, "x"), table(y, "y")


def pairs(
    on: Band | Where, x: list[Any], y: list[Any], kind: pa.DataType
) -> list[tuple[Any, Any]]:
    """Pairs that a join of two gives."""
    run = local.join(
        [pair_of(x, y, kind)],
        on=on,
        within=Within(after="0 seconds"),
        time=("t_x", "t_y"),
    )
    columns = (run.results[name].to_pylist() for name in ("x", "y"))
    return sorted(zip(*columns, strict=True), key=str)


def band(eps: float) -> Band:
    return Band({"left": "x", "right": "y"}, eps)


def test_doubles_as_spark_has_them() -> None:
    values = [0.0, -0.0, 0.1, 0.30000000000000004, INF, -INF, NAN, None, 1e308, -1e308]
    found = pairs(band(0.2), values, values, pa.float64())
    near = [
        (a, b)
        for a in values
        for b in values
        if a is not None and b is not None and abs(a - b) <= 0.2
    ]
    assert found == sorted(near, key=str)
    assert (0.1, 0.30000000000000004) not in found
    assert (0.1, 0.3) in pairs(band(0.2), [0.1], [0.3], pa.float64())
    assert not any(value in pair for pair in found for value in (INF, -INF, None))
    # The difference of the two largest is infinite.
    assert pairs(band(1.7e308), [1e308], [-1e308, 1e308], pa.float64()) == [
        (1e308, 1e308)
    ]


def test_integers_do_not_overflow() -> None:
    ends = [LEAST, LEAST + 1, 0, MOST - 1, MOST]
    for eps in (0, 1, MOST, MOST + 1, 2**64 - 2, 2**64 - 1, 10**30):
        expected = [(a, b) for a in ends for b in ends if abs(a - b) <= eps]
        assert pairs(band(eps), ends, ends, pa.int64()) == sorted(expected, key=str)


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("=", [(-0.0, 0.0), (INF, INF), (NAN, NAN)]),
        ("<", [(-0.0, INF), (-0.0, NAN), (INF, NAN)]),
        (">", [(INF, 0.0), (NAN, 0.0), (NAN, INF)]),
    ],
)
def test_a_nan_is_the_greatest(operator: str, expected: list[Any]) -> None:
    on = Where("left.x", operator, "right.y")
    found = pairs(on, [-0.0, INF, NAN, None], [0.0, INF, NAN, None], pa.float64())
    assert list(map(str, found)) == sorted(map(str, expected))


def test_duplicates_are_all_found() -> None:
    assert len(pairs(band(0), [1.0] * 7, [1.0] * 9, pa.float64())) == 63


def test_a_function_of_several_columns_and_types() -> None:
    def late(x: Values, t: Values, y: Values) -> BoolArray:
        assert t.dtype == np.dtype("datetime64[us]")
        found: BoolArray = x > y
        return found

    on = Where(late, "left.x", "left.t_x", "right.y")
    assert pairs(on, ["b", "a", None], ["a", "ä"], pa.string()) == [("b", "a")]


@pytest.mark.parametrize("wrong", [np.add, np.array_equal])
def test_a_function_must_answer_for_every_row(wrong: Function) -> None:
    on = Where(wrong, "left.x", "right.y")
    with pytest.raises(ParameterError, match="the function of a Where gave"):
        pairs(on, [1, 2], [3], pa.int64())


def test_text_and_decimals_are_compared() -> None:
    on = Where("left.x", "<", "right.y")
    assert pairs(on, ["B", "a"], ["a", "ä"], pa.string()) == [
        ("B", "a"),
        ("B", "ä"),
        ("a", "ä"),
    ]
    one, two = Decimal("1.10"), Decimal("1.20")
    assert pairs(on, [one, two], [one, two], pa.decimal128(9, 2)) == [(one, two)]


def test_a_gap_between_two_streams() -> None:
    """The right row comes one to two seconds later, also by a band."""
    times = [1, 2, 3, 4]
    tables = pair_of(times, times, pa.int64())
    at = pa.array([1_000_000 * n for n in times], pa.timestamp("us"))
    left, right = (t.set_column(1, t.schema.names[1], at) for t in tables)
    run = local.join(
        [(left, right)],
        on=band(10),
        within=Within(before="-1 second", after="2 seconds"),
        time=("t_x", "t_y"),
    )
    found = zip(run.results["x"].to_pylist(), run.results["y"].to_pylist(), strict=True)
    assert sorted(found) == [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]
