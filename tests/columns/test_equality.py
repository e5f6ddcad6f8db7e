"""Equality of columns against plain Python values."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.columns.equality import equal_rows

NAN = float("nan")
SCALARS: dict[pa.DataType, list[Any]] = {
    pa.int8(): [0, 1, -128],
    pa.int64(): [0, 2**63 - 1, -(2**63)],
    pa.bool_(): [True, False],
    pa.float32(): [0.0, -0.0, 1.5, NAN, -NAN],
    pa.float64(): [0.0, -0.0, 0.1, 0.1 + 2**-56, NAN, math.inf],
    pa.string(): ["", "a", "A", "a ", "\0", "e\u0301", "\u00e9"],
    pa.large_string(): ["", "b"],
    pa.binary(): [b"", b"\0", b"\0\0"],
    pa.decimal128(9, 2): [Decimal("0.00"), Decimal("-0.01"), Decimal("1.10")],
    pa.date32(): [date(1970, 1, 1), date(1969, 12, 31)],
    pa.timestamp("us", "UTC"): [0, 1, -1],
}


def wider(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    fields = st.lists(inner, max_size=3)
    structs = fields.map(lambda kinds: pa.struct(zip("xyz", kinds, strict=False)))
    return st.one_of(structs, inner.map(pa.list_), inner.map(pa.large_list))


kinds = st.recursive(st.sampled_from(list(SCALARS)), wider, max_leaves=4)


def values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    """Few values of a type, nulls among them, so that equal ones are common."""
    some: st.SearchStrategy[Any]
    if pa.types.is_struct(kind):
        some = st.fixed_dictionaries({field.name: values(field.type) for field in kind})
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        some = st.lists(values(kind.value_type), max_size=3)
    else:
        some = st.sampled_from(SCALARS[kind])
    return st.one_of(some, some, some, st.none())


def same(a: Any, b: Any) -> bool:  # noqa: ANN401
    """Spark's equality of join keys, with nulls equal to nulls."""
    if a is None or b is None:
        return a is b
    if isinstance(a, dict):
        return all(same(a[name], b[name]) for name in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


@st.composite
def columns(draw: st.DrawFn) -> tuple[pa.DataType, list[Any], list[Any], int]:
    """Two columns of a type, alike in many rows, and where to cut them."""
    kind = draw(kinds)
    left = draw(st.lists(values(kind), max_size=8))
    right = [draw(st.one_of(st.just(value), values(kind))) for value in left]
    return kind, left, right, draw(st.integers(0, len(left)))


@given(columns())
def test_equals_python(case: tuple[pa.DataType, list[Any], list[Any], int]) -> None:
    kind, left, right, cut = case
    a, b = pa.array(left, kind), pa.array(right, kind)
    expected = [same(x, y) for x, y in zip(left, right, strict=True)]
    found = equal_rows(a, b)
    assert found.dtype == np.bool_
    assert found.tolist() == expected
    assert equal_rows(b, a).tolist() == expected
    assert equal_rows(a.slice(cut), b.slice(cut)).tolist() == expected[cut:]
    assert equal_rows(a, a).all()


@pytest.mark.parametrize("kind", SCALARS, ids=str)
def test_every_pair_of_values(kind: pa.DataType) -> None:
    some = [*SCALARS[kind], None]
    left = [x for x in some for _ in some]
    right = [y for _ in some for y in some]
    found = equal_rows(pa.array(left, kind), pa.array(right, kind))
    assert found.tolist() == [same(x, y) for x, y in zip(left, right, strict=True)]


def test_floats() -> None:
    a = pa.array([NAN, 0.0, NAN, None, 1.0])
    b = pa.array([NAN, -0.0, 0.0, NAN, 1.0])
    assert equal_rows(a, b).tolist() == [True, True, False, False, True]


def test_nans_of_other_bits() -> None:
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000001], np.uint64)
    nans = bits.view(np.float64)
    assert equal_rows(pa.array(nans), pa.array(nans[::-1].copy())).all()


def test_what_lies_under_a_null_does_not_count() -> None:
    mask = pa.array([True, False])
    a, b = (
        pa.StructArray.from_arrays([pa.array([x, 7])], ["x"], mask=mask) for x in (1, 2)
    )
    assert equal_rows(a, b).tolist() == [True, True]
    lists = [
        pa.ListArray.from_arrays(pa.array([0, 1, 2]), pa.array([x, 7]), mask=mask)
        for x in (1, 2)
    ]
    assert equal_rows(*lists).tolist() == [True, True]


def test_null_is_not_a_value_of_nulls() -> None:
    kind = pa.struct([("x", pa.int64())])
    a, b = pa.array([None, {"x": None}], kind), pa.array([{"x": None}] * 2, kind)
    assert equal_rows(a, b).tolist() == [False, True]


def test_lists_of_other_lengths() -> None:
    a = pa.array([[1, 2], [], [1], [None], [1, 2, 3]])
    b = pa.array([[1], [], [1, 1], [], [1, 2, 3]])
    assert equal_rows(a, b).tolist() == [False, True, False, False, True]


def test_one_wrong_item_spoils_its_own_list_only() -> None:
    a = pa.array([[1, 2], [], [0], [3, 4, 5], None, [6]])
    b = pa.array([[1, 2], [], [0, 0], [3, 0, 5], None, [6]])
    assert equal_rows(a, b).tolist() == [True, True, False, False, True, True]
