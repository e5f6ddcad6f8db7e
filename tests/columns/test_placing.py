"""Rows that could match meet in one shard, whatever their values are."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.predicates import as_single, is_near
from shedjoin import Band, Cells, Where, cells_of
from shedjoin.columns.hot import hot_columns
from shedjoin.columns.placing import Placed, placed
from shedjoin.columns.terms import Streams
from shedjoin.errors import ParameterError, ShedjoinError
from shedjoin.spec.predicates import Predicate
from shedjoin.spec.streams import JoinSpec, StreamSpec

INF, NAN = math.inf, math.nan
NAMES = ("a", "b")
TYPES = {"double": pa.float64(), "single": pa.float32(), "long": pa.int64()}
numbers = st.integers(-40, 40)
values = {
    "double": st.floats()
    | numbers.map(lambda n: n / 2)
    | st.sampled_from([INF, -INF, NAN, -0.0, 1.7e308, -1.7e308, 5e-324]),
    "single": st.floats(width=32) | numbers.map(lambda n: as_single(n / 10)),
    "long": st.integers(-(2**63), 2**63 - 1) | numbers,
}
widths = {
    "double": st.sampled_from([0.0, 0.1, 0.5, 2.0, 5e-324, 1e308]),
    "single": st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    "long": st.sampled_from([0, 1, 2.5, 7, 10**30]),
}


def spec_of(
    on: Predicate, kind: pa.DataType, shards: int, cells: Cells | None
) -> JoinSpec:
    schema = pa.schema([("x", kind), ("t", pa.timestamp("us"))])
    columns = tuple((field.name, str(field.type)) for field in schema)
    streams = tuple(StreamSpec(name, columns, (), "t", 0) for name in NAMES)
    spec = JoinSpec(streams, shards, direct=True, output=())
    return spec.with_terms(Streams(NAMES, [schema, schema]).terms([on]), cells)


def shards_of(
    spec: JoinSpec, stream: int, kind: pa.DataType, own: list[Any]
) -> list[list[int]]:
    """All shards that each row goes to."""
    times = pa.array(range(len(own)), pa.int64()).cast(pa.timestamp("us"))
    rows = pa.record_batch({"x": pa.array(own, kind), "t": times})
    hot = hot_columns(rows, spec.streams[stream], direct=True)
    return by_row(placed(rows, hot, stream, spec), len(own), spec.shards)


def by_row(where: Placed, rows: int, shards: int) -> list[list[int]]:
    if not where.shard.size:
        return [list(range(shards))] * rows
    row = np.arange(rows) if where.row is None else where.row
    return [where.shard[row == number].tolist() for number in range(rows)]


@st.composite
def cells(draw: st.DrawFn, kind: str) -> Cells | None:
    finite = values[kind].filter(math.isfinite)
    if draw(st.booleans()):
        return None
    edges = sorted(set(draw(st.lists(finite, max_size=5))))
    pieces = st.lists(
        st.integers(1, 4), min_size=len(edges) + 1, max_size=len(edges) + 1
    )
    return Cells(edges, draw(pieces))


@pytest.mark.parametrize("kind", TYPES)
@given(st.data())
def test_near_rows_meet_once(kind: str, data: st.DataObject) -> None:
    eps = data.draw(widths[kind])
    some = st.lists(values[kind], min_size=1, max_size=12)
    anchors, others = data.draw(some), data.draw(some)
    # Neighbours of the anchors, to reach the ends of the band itself.
    if kind == "long":
        ends = (n + d * int(eps) for n in anchors for d in (-1, 1))
        others += [n for n in ends if -(2**63) <= n < 2**63]
    elif kind == "double":
        others += [n + d * eps for n in anchors for d in (-1, 1)]
    shards = data.draw(st.integers(1, 7))
    chosen = data.draw(cells(kind))
    spec = spec_of(Band("x", eps), TYPES[kind], shards, chosen)
    homes = shards_of(spec, 0, TYPES[kind], anchors)
    copies = shards_of(spec, 1, TYPES[kind], others)
    assert all(len(home) == 1 for home in homes)
    assert all(len(set(own)) == len(own) >= 1 for own in copies)
    for anchor, (home,) in zip(anchors, homes, strict=True):
        for other, own in zip(others, copies, strict=True):
            if is_near(anchor, other, eps, single=kind == "single"):
                assert home in own, (anchor, other)


@pytest.mark.parametrize("on", [Band("x", 0.5), Where("a.x", "<", "b.x")])
def test_a_row_is_placed_by_its_values_alone(on: Predicate) -> None:
    kind, own = pa.float64(), [n / 7 for n in range(40)]
    split = Cells([1.0, 2.0], [1, 3, 2]) if isinstance(on, Band) else None
    for chosen in {None, split}:
        spec = spec_of(on, kind, 4, chosen)
        for stream in (0, 1):
            rows = pa.record_batch(
                {"x": pa.array(own, kind), "t": pa.array(range(40), pa.timestamp("us"))}
            )
            rows = rows.append_column("n", pa.array([None, 1, None, 3] * 10))
            hot = hot_columns(rows, spec.streams[stream], direct=True)
            together = by_row(placed(rows, hot, stream, spec), 40, 4)
            for number in range(40):
                one = rows.slice(number, 1)
                hot = hot_columns(one, spec.streams[stream], direct=True)
                assert by_row(placed(one, hot, stream, spec), 1, 4) == [
                    together[number]
                ]


def test_rows_spread_over_all_shards() -> None:
    kind = pa.float64()
    rng = np.random.default_rng(3)
    own = (rng.random(4000) * 400).tolist()
    for on, chosen in (
        (Where("a.x", "<", "b.x"), None),
        (Band("x", 0.001), None),
        (Band("x", 1e-17), None),
        (Band("x", 1000.0), Cells([], [8])),
    ):
        spec = spec_of(on, kind, 8, chosen)
        homes = shards_of(spec, 0, kind, own)
        counts = np.bincount([home for (home,) in homes], minlength=8)
        assert counts.min() > 350, on
        copies = shards_of(spec, 1, kind, own)
        per_row = np.mean([len(own) for own in copies])
        assert per_row == (
            8 if chosen or isinstance(on, Where) else pytest.approx(1.1, 0.15)
        )


def test_crowded_cells_are_split() -> None:
    rng = np.random.default_rng(1)
    crowded = np.concatenate([np.full(4000, 50.0), rng.random(6000) * 100])
    found = cells_of(pa.array(crowded), Band("x", 0.5), shards=10)
    spec = spec_of(Band("x", 0.5), pa.float64(), 10, found)
    assert max(found.pieces) == 4
    homes = shards_of(spec, 0, pa.float64(), crowded.tolist())
    counts = np.bincount([home for (home,) in homes], minlength=10)
    assert counts.max() < 2 * counts.mean()
    without = spec_of(Band("x", 0.5), pa.float64(), 10, Cells(found.edges))
    homes = shards_of(without, 0, pa.float64(), crowded.tolist())
    assert np.bincount([home for (home,) in homes]).max() > 4000


def test_cells_of_times_and_of_nothing() -> None:
    times = pa.array(range(0, 1_000_000, 1000), pa.timestamp("us"))
    found = cells_of(times, Band("x", "1 millisecond"), shards=4)
    assert found == Cells([250_000, 500_000, 750_000])
    with pytest.raises(ParameterError, match="0 finite values and shards=4"):
        cells_of(pa.array([NAN, None, INF]), Band("x", 1.0), shards=4)


def test_cells_are_for_bands() -> None:
    with pytest.raises(ParameterError, match="by no Band, not by Cells"):
        spec_of(Where("a.x", "<", "b.x"), pa.float64(), 2, Cells([1.0]))
    with pytest.raises(ParameterError, match="2 edges make 3 cells"):
        Cells([1.0, 2.0], [1, 1])


def test_rows_that_differ_only_in_text_are_spread() -> None:
    spec = spec_of(Where("a.x", "<", "b.x"), pa.float64(), 8, None)
    names = [f"name {n}" for n in range(4000)]
    rows = pa.record_batch({"x": pa.array([1.0] * 4000), "name": names})
    rows = rows.append_column("t", pa.array([0] * 4000, pa.timestamp("us")))
    hot = hot_columns(rows, spec.streams[0], direct=True)
    assert np.bincount(placed(rows, hot, 0, spec).shard, minlength=8).min() > 350


def test_the_same_cells_are_the_same_state() -> None:
    prints = {
        spec_of(Band("x", 1.0), pa.float64(), 2, cells).fingerprint()
        for cells in (Cells([1, 2]), Cells([1.0, 2.0]), Cells(np.array([1, 2])))  # type: ignore[arg-type]
    }
    assert len(prints) == 1


def test_functions_are_not_kept() -> None:
    """Each task is sent the function anew."""
    for _ in range(3):
        on = Where(lambda x, y: x < y, "a.x", "b.x")
        spec_of(on, pa.float64(), 2, None).fingerprint()
        test = weakref.ref(on.test)
        del on
        gc.collect()
        assert test() is None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Cells(["a"]), "'a', which is no number"),  # type: ignore[list-item]
        (lambda: cells_of(pa.array(["a"]), Band("x", 1), 2), "has no distances"),
        (lambda: cells_of(pa.array([True]), Band("x", 1), 2), "has no distances"),
        (lambda: cells_of([1.0], Band("x", 1), 2), "cells of list"),
        (
            lambda: cells_of(pa.array([1.0]), Where("a.x", "<", "b.x"), 2),  # type: ignore[arg-type]
            "for Where",
        ),
        (
            lambda: spec_of(Band("x", 1.0), pa.float64(), 2, [1, 2]),  # type: ignore[arg-type]
            r"cells=\[1, 2\] are no cells",
        ),
        (
            lambda: spec_of(Where("a.x", "<", "b.x"), pa.list_(pa.int64()), 2, None),
            "compares columns list",
        ),
        (lambda: spec_of(Where("a.x", "<", "b.x"), pa.null(), 2, None), "no order"),
    ],
)
def test_wrong_use(wrong: Callable[[], object], said: str) -> None:
    with pytest.raises(ShedjoinError, match=said):
        wrong()
