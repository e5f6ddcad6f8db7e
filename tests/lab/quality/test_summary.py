"""Approximate results against exact ones: multisets, importance, mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.errors import ParameterError
from shedjoin.lab.quality import Quality, compare

# Table 1 of the iJoin paper: value and importance, at t = 1 to 8.
LEFT = [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("d", 4), ("b", 2), ("a", 1), ("c", 3)]
RIGHT = [("b", 2), ("a", 1), ("b", 2), ("b", 2), ("c", 3), ("c", 3), ("d", 4), ("a", 1)]

Resident = tuple[int, str, int]


def ijoin(capacity: int, worth: Callable[[Resident], float]) -> pa.Table:
    """Shed the least worthy of both streams, then join what is left."""
    kept: list[list[Resident]] = [[], []]
    rows = []
    for now, pair in enumerate(zip(LEFT, RIGHT, strict=True), 1):
        for side, (value, importance) in enumerate(pair):
            kept[side].append((now, value, importance))
            if len(kept[side]) > capacity:
                kept[side].remove(min(kept[side], key=worth))
        rows += [
            {"left": a[0], "right": b[0], "importance": min(a[2], b[2])}
            for a in kept[0]
            for b in kept[1]
            if now in (a[0], b[0]) and a[1] == b[1]
        ]
    return pa.Table.from_pylist(rows)


EXACT = ijoin(8, lambda resident: resident[0])
FIFO = ijoin(2, lambda resident: resident[0])
GREEDY = ijoin(2, lambda resident: resident[2])


@pytest.mark.parametrize(
    ("approximate", "outputs", "importance"),
    [(EXACT, 16, 36), (FIFO, 4, 6), (GREEDY, 5, 13)],
    ids=["EXACT", "FIFO", "GREEDY"],
)
def test_ijoin_example(approximate: pa.Table, outputs: int, importance: int) -> None:
    found = compare(approximate, EXACT, importance="importance")
    assert (found.outputs, found.importance) == (outputs, importance)
    assert found.recall == outputs / 16
    assert found.importance_share == importance / 36
    assert found.is_subset


rows = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 3)), st.sampled_from(["x", "y", None])
    )
)


def table(pairs: list[tuple[int | None, str | None]]) -> pa.Table:
    numbers, texts = [a for a, _ in pairs], [b for _, b in pairs]
    return pa.table(
        {"n": pa.array(numbers, pa.int64()), "t": pa.array(texts, pa.string())}
    )


@given(rows, rows)
def test_multisets(
    found: list[tuple[int | None, str | None]],
    exact: list[tuple[int | None, str | None]],
) -> None:
    common = (Counter(found) & Counter(exact)).total()
    quality = compare(table(found), table(exact))
    assert quality.recall == (common / len(exact) if exact else 1)
    assert quality.importance == common
    assert quality.outputs == len(found)
    assert quality.extra == len(found) - common
    assert quality.is_subset == (Counter(found) <= Counter(exact))


def test_extra_rows_add_nothing() -> None:
    exact = pa.table({"k": [1, 2], "worth": [3.0, 1.0]})
    found = pa.table({"k": [1, 1, 9], "worth": [3.0, 3.0, 50.0]})
    quality = compare(found, exact, importance="worth")
    assert quality == Quality(
        recall=0.5, importance=3, importance_share=0.75, outputs=3, extra=2
    )
    assert not quality.is_subset


def test_the_price_is_carried_along() -> None:
    sheds = {"memory": 7}
    quality = compare(
        pa.array([1]),
        pa.chunked_array([[1], [2]]),
        lifetimes=[5, 5, 5, 0],
        sheds=sheds,
        recomputations=3,
    )
    sheds["memory"] = 0
    assert (quality.recall, quality.fairness) == (0.5, 0.75)
    assert (quality.sheds, quality.recomputations) == ({"memory": 7}, 3)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([float("nan"), 1.0, None]),
        pa.array([[1, 2], None, [1, 2]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array(["a", "b", "a"]).dictionary_encode(),
        pa.nulls(2),
        pa.array([True, None, False]),
    ],
    ids=lambda column: str(column.type),
)
def test_types(column: pa.Array) -> None:
    assert compare(column, column).recall == 1
    twice = compare(pa.chunked_array([column, column]), column)
    assert (twice.recall, twice.extra) == (1, len(column))
    assert compare(column.slice(1), column).recall == (len(column) - 1) / len(column)


def test_order_of_columns_and_width_of_types_do_not_matter() -> None:
    exact = pa.table({"a": pa.array([1, 2], pa.int64()), "b": ["x", "y"]})
    found = pa.table({"b": pa.array(["y"], pa.large_string()), "a": [2]})
    assert compare(found.to_batches()[0], exact).recall == 0.5


def test_two_columns_of_one_name() -> None:
    exact = pa.table([pa.array([1, 1]), pa.array([2, 3])], names=["k", "k"])
    assert compare(exact.slice(1), exact).recall == 0.5


EXAMPLE = pa.table({"k": [1], "worth": [2.0]})


@pytest.mark.parametrize(
    "bad",
    [
        lambda: compare(EXAMPLE.select(["k"]), EXAMPLE),
        lambda: compare(EXAMPLE, EXAMPLE.select(["k"])),
        lambda: compare(pa.table({"k": ["one"], "worth": [2.0]}), EXAMPLE),
        lambda: compare(EXAMPLE.select([]), EXAMPLE.select([])),
        lambda: compare([1], EXAMPLE),
        lambda: compare(EXAMPLE, EXAMPLE, importance="weight"),
        lambda: compare(pa.array(["a"]), pa.array(["a"]), importance="row"),
        lambda: compare(pa.array([-1.0]), pa.array([-1.0]), importance="row"),
        lambda: compare(pa.nulls(1), pa.nulls(1), importance="row"),
    ],
)
def test_bad_values(bad: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"\nFix: "):
        bad()
