"""Ranges of codes hold exactly the values that Spark SQL would let through."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.predicates import as_single, compares, is_near
from shedjoin.columns.bounds import band_bounds, compare_bounds
from shedjoin.columns.codes import Reals, codes_of, order_codes, values_of
from shedjoin.spec.predicates import OPERATORS
from shedjoin.spec.terms import BandTerm, Kind

INF, NAN = math.inf, math.nan
EDGES = [0.0, -0.0, 1.0, -1.0, 1.5, -1.5, 0.1, 0.3, 5e-324, 2.0**53, 1.7e308, -1.7e308]
doubles = st.floats() | st.sampled_from([*EDGES, INF, -INF, NAN])
singles = st.floats(width=32) | st.sampled_from([0.1, 0.3, 3e38, 1e-45]).map(as_single)
lengths = st.floats(0, allow_infinity=False, allow_nan=False) | st.sampled_from(
    [0.0, 0.1, 0.2, 1.0, 5e-324, 1e308]
)
integers = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


def holds(value: float, other: float, eps: float, kind: Kind) -> bool:
    """Whether the range around a value holds another one."""
    real = np.float32 if kind == "float32" else np.float64
    codes = codes_of(np.array([value, other], real))
    bounds = band_bounds(BandTerm(("x", "x"), eps, kind), codes[:1])
    return bool(bounds.low[0] <= codes[1] <= bounds.high[0])


@given(doubles, doubles, lengths)
def test_band_of_doubles(value: float, other: float, eps: float) -> None:
    assert holds(value, other, eps, "float64") == is_near(value, other, eps)


@given(singles, singles, lengths | singles.map(abs).filter(math.isfinite))
def test_band_of_singles(value: float, other: float, eps: float) -> None:
    expected = is_near(value, other, eps, single=True)
    assert holds(value, other, eps, "float32") == expected


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_the_ends_of_a_band_are_exact(kind: Kind, rng: np.random.Generator) -> None:
    real = np.float32 if kind == "float32" else np.float64
    values: Reals = np.concatenate(
        [
            rng.normal(size=500),
            rng.integers(-8, 8, 500) / 4,
            10 ** rng.normal(0, 9, 500),
        ]
    ).astype(real)
    for eps in (0.0, 0.1, 0.25, 1.0, 1e-20, 1e20):
        bounds = band_bounds(BandTerm(("x", "x"), eps, kind), codes_of(values))
        for codes, outwards in ((bounds.low, -1), (bounds.high, 1)):
            for step, near in ((0, True), (outwards, False)):
                difference = (values_of(codes + step, kind) - values).astype(float)
                # Minus zero has a code of its own, which no value has.
                zero = (values_of(codes, kind) == 0) & (step != 0)
                assert ((np.abs(difference) <= eps) == near)[~zero].all()


@given(integers, integers, st.integers(0, 2**65) | st.integers(0, 5))
def test_band_of_integers(value: int, other: int, eps: int) -> None:
    codes = np.array([value])
    bounds = band_bounds(BandTerm(("x", "x"), eps, "integer"), codes)
    assert (bounds.low[0] <= other <= bounds.high[0]) == (abs(value - other) <= eps)


@given(st.sampled_from(OPERATORS), integers, integers)
def test_comparison_of_integers(operator: str, value: int, other: int) -> None:
    bounds = compare_bounds(operator, np.array([value]))
    inside = bool(bounds.low[0] <= other <= bounds.high[0])
    assert (inside == bounds.inside) == compares(other, operator, value)


@given(st.sampled_from(OPERATORS), doubles, doubles)
def test_comparison_of_doubles(operator: str, value: float, other: float) -> None:
    codes = codes_of(np.array([value, other]))
    bounds = compare_bounds(operator, codes[:1])
    inside = bool(bounds.low[0] <= codes[1] <= bounds.high[0])
    assert (inside == bounds.inside) == compares(other, operator, value)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.bool_(), [False, True]),
        (pa.int8(), [-128, 0, 127]),
        (pa.uint32(), [0, 2**32 - 1]),
        (pa.float32(), [-INF, -1.5, 0.0, 1e-45, 3e38, INF, NAN]),
        (pa.float64(), [-INF, -1.5, 0.0, 5e-324, 1e308, INF, NAN]),
        (pa.date32(), [-3, 0, 19000]),
        (pa.timestamp("us", "UTC"), [-(2**62), -1, 0, 2**62]),
    ],
)
def test_codes_are_in_the_order_of_values(
    kind: pa.DataType, values: list[object]
) -> None:
    codes = order_codes(pa.array(values, kind))
    assert (np.diff(codes) > 0).all()
