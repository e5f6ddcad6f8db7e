"""Graphs of matches, and how they come from archives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.lab.offline import Archive, MatchGraph, archived_matches
from shedjoin.lab.plan import Costs

from .graphs import TINY, TINY_COSTS, edges_of, graph_of, parts_of, work_of

edges = st.lists(
    st.tuples(st.integers(-3, 5), st.integers(-3, 5)), unique=True, max_size=20
)
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(-9, 9)), max_size=15)


@given(edges)
def test_components(given_: list[tuple[int, int]]) -> None:
    component = graph_of(given_).components()
    expected = parts_of(given_)
    found = [
        sorted(
            edge for edge, own in zip(given_, component, strict=True) if own == number
        )
        for number in np.unique(component)
    ]
    assert sorted(found) == sorted(expected)


@given(edges)
def test_work(given_: list[tuple[int, int]]) -> None:
    graph = graph_of(given_)
    assert graph.work(TINY_COSTS) == work_of(given_, TINY_COSTS)
    kept = np.arange(len(given_)) % 2 == 0
    part = graph.subset(kept, TINY_COSTS)
    assert part.work == graph.part(kept).work(TINY_COSTS)
    assert part.work == work_of(given_[::2], TINY_COSTS)
    assert part.results == len(given_[::2])


def test_the_tiny_graph() -> None:
    graph = graph_of(TINY)
    assert graph.components().tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert graph.work(TINY_COSTS) == 11.5


@given(rows, rows, st.integers(-2, 9), st.integers(-2, 9))
def test_matches_of_archives(
    left: list[tuple[int, int]], right: list[tuple[int, int]], before: int, after: int
) -> None:
    graph = archived_matches(archive(left), archive(right), before=before, after=after)
    assert sorted(edges_of(graph)) == [
        (i, j)
        for i, (key, time) in enumerate(left)
        for j, (other, instant) in enumerate(right)
        if key == other and time - before <= instant <= time + after
    ]


def archive(stream: list[tuple[int, int]]) -> Archive:
    columns = np.array(stream, dtype=np.int64).reshape(-1, 2)
    return Archive(columns[:, 0], columns[:, 1])


def test_keys_of_other_types() -> None:
    left = Archive(["x", "y", "x"], [0.5, 1.0, 2.0])
    right = Archive(["z", "x"], [1.0, 1.0])
    assert edges_of(archived_matches(left, right, before=1, after=1)) == [
        (0, 1),
        (2, 1),
    ]


def test_missing_keys_match_nothing() -> None:
    left, right = Archive([np.nan, 1.0], [0, 0]), Archive([1.0, np.nan], [0, 0])
    assert edges_of(archived_matches(left, right)) == [(1, 0)]


def test_archives_without_rows() -> None:
    some, none = Archive(["x"], [0]), Archive([], [])
    for streams in ((some, none), (none, some), (none, none)):
        assert edges_of(archived_matches(*streams)) == []


def test_graphs_cannot_be_changed() -> None:
    rows = np.array([0, 1])
    graph = MatchGraph(rows, rows)
    rows[0] = 7
    assert edges_of(graph) == [(0, 0), (1, 1)]
    with pytest.raises(ValueError, match="read-only"):
        graph.ends[0][0] = 7


@pytest.mark.parametrize(
    "bad",
    [
        lambda: MatchGraph([0, 1], [0]),
        lambda: MatchGraph([0, 0], [1, 1]),
        lambda: MatchGraph([0.5], [1]),
        lambda: MatchGraph([[0]], [[1]]),
        lambda: archived_matches(Archive([1, 2], [0]), Archive([1], [0])),
        lambda: archived_matches(Archive([[1]], [[0]]), Archive([1], [0])),
        lambda: Costs(update=-1, match=0),
    ],
)
def test_bad_values(bad: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"\nFix: "):
        bad()


def test_keys_of_two_types() -> None:
    with pytest.raises(ColumnTypeError, match=r"int64 cannot equal .*\nFix: "):
        archived_matches(Archive([1], [0]), Archive(["1"], [0]))


def test_large_and_unsigned_times_are_not_rounded() -> None:
    base = 2**60
    time = np.array([base, base + 1, base + 2], dtype=np.uint64)
    stream = Archive([0, 0, 0], time)
    graph = archived_matches(stream, stream, before=1.0, after=0)
    assert graph.ends[0].size == 5


def test_keys_that_would_be_rounded_are_refused() -> None:
    signed = Archive(np.array([2**53], dtype=np.int64), [0])
    unsigned = Archive(np.array([2**53 + 1], dtype=np.uint64), [0])
    with pytest.raises(ColumnTypeError, match="uint64"):
        archived_matches(signed, unsigned)
