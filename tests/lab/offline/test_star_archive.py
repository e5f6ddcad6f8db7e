"""What an archive may look like: times, windows, keys, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from oracle.star import Fact, World, outcomes, pairs, same_instant, total
from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError
from shedjoin.lab.offline import StarArchive, star_join, star_optimum
from shedjoin.spec.window import Duration, Within

from .stars import ON, drawn, relation, stream

SECOND = 1_000_000


def in_seconds(world: World, within: Within | Duration, unit: str) -> StarArchive:
    """A world with the instants as seconds since 2020."""

    def told(table: pa.Table, *columns: str) -> pa.Table:
        for name in columns:
            clock = pa.timestamp(unit, "UTC")
            times = pa.array(
                [
                    None if each is None else at(each)
                    for each in table[name].to_pylist()
                ],
                clock,
            )
            table = table.set_column(table.column_names.index(name), name, times)
        return table

    return StarArchive(
        told(stream(world.left, "a"), "time"),
        told(stream(world.right, "b"), "time"),
        told(relation(world.facts), "begin", "end"),
        on=ON,
        within=within,
        importance=("importance", "importance"),
        valid=("begin", "end"),
        time=("time", "time"),
    )


def at(instant: int) -> datetime:
    return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=instant)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_and_windows_of_the_library(seed: int, unit: str) -> None:
    rng = np.random.default_rng(seed)
    before, after = rng.integers(-2, 5, 2).tolist()
    if before + after < 0:
        before, after = -before, -after
    world = drawn(rng, rows=5)._replace(before=before, after=after)
    within = Within(before=f"{before} seconds", after=f"{after} seconds")
    archive = in_seconds(world, within, unit)
    exact = star_join(archive)
    assert (exact.size, exact.importance) == total(world, pairs(world))
    assert exact.same == same_instant(world)
    for prefilter in ("matches", "relation", "none"):
        best = star_optimum(archive, rows=(1, 2), prefilter=prefilter)
        for part, each, room in (
            (best.parts.left, world, 1),
            (best.parts.right, world.swapped(), 2),
        ):
            every = outcomes(each, room)
            assert part.importance == max(importance for _, importance in every)


def test_memory_is_told_in_the_times_of_the_streams() -> None:
    left = pa.table({"time": pa.array([at(0)], pa.timestamp("ms", "UTC")), "k": ["x"]})
    right = left.set_column(0, "time", pa.array([at(5)], pa.timestamp("ms", "UTC")))
    archive = StarArchive(left, right, None, "k", within="5 seconds")
    best = star_optimum(archive, rows=2)
    assert best.size == 1
    assert best.left["stored_from"].to_pylist() == [at(0)]
    assert best.left["gone_at"].to_pylist() == [None]
    assert best.kept_at(at(-1)) == ([], [])
    assert best.kept_at(at(3)) == ([0], [])


def test_a_gap_of_no_time_between_two_lives_of_a_fact() -> None:
    facts = relation([Fact(0, 0, 0, 2), Fact(0, 0, 2, 4)])
    left = pa.table({"time": [1, 2], "a": [0, 0]})
    right = pa.table({"time": [2, 3], "b": [0, 0]})
    archive = StarArchive(left, right, facts, ON, within=5, valid=("begin", "end"))
    assert star_join(archive).size == 2  # only rows of the second life


def test_rows_without_keys_match_nothing() -> None:
    left = pa.table({"time": [0, 1], "a": [None, 1]})
    right = pa.table({"time": [2, 2], "b": pa.array([None, 5], pa.int64())})
    facts = pa.table({"a": [1, None], "b": [5, None]})
    archive = StarArchive(left, right, facts, ON, within=5)
    assert star_join(archive).size == 1
    for prefilter in ("matches", "relation", "none"):
        best = star_optimum(archive, rows=2, prefilter=prefilter)
        assert best.size == 1


def test_streams_without_rows() -> None:
    left = pa.table({"time": pa.array([], pa.int64()), "k": pa.array([], pa.string())})
    archive = StarArchive(left, left, None, "k", within=5)
    assert star_join(archive).size == star_optimum(archive, rows=4).size == 0
    some = pa.table({"time": [1], "k": ["x"]})
    assert star_optimum(StarArchive(some, left, None, "k", 5), rows=4).size == 0


def archive(**changes: Any) -> StarArchive:  # noqa: ANN401
    known: dict[str, Any] = {
        "left": pa.table({"time": [0, 1], "a": [1, 2], "worth": [1.0, 2.0]}),
        "right": pa.table({"time": [0, 1], "b": [1, 2], "worth": [1.0, 2.0]}),
        "relation": pa.table({"a": [1, 1], "b": [1, 1], "from": [0, 3], "to": [3, 5]}),
        "on": ON,
        "within": 3,
        "valid": ("from", "to"),
        **changes,
    }
    return StarArchive(**known)


def table(**columns: Any) -> pa.Table:  # noqa: ANN401
    return pa.table(columns)


@pytest.mark.parametrize(
    ("changes", "kind", "says"),
    [
        ({"within": -1}, ParameterError, "is negative"),
        ({"within": "3 seconds"}, ParameterError, "does not fit"),
        ({"within": Within(after="3 seconds")}, ParameterError, "does not fit"),
        ({"within": True}, ParameterError, "does not fit"),
        ({"on": "a"}, ParameterError, "on='a'"),
        ({"on": ("a", "b")}, ParameterError, "does not name"),
        ({"on": (("a", "c"), ("b", "b"))}, ColumnError, "no column 'c'"),
        ({"relation": None}, ParameterError, "does not name a column of each side"),
        ({"time": "when"}, ColumnError, "no column 'when'"),
        ({"time": ("time",)}, ParameterError, "does not name"),
        ({"importance": "imp"}, ColumnError, "no column 'imp'"),
        ({"valid": None}, ParameterError, "active together"),
        ({"valid": ("a", "to")}, ParameterError, "active together"),
        (
            {"left": table(time=[0], a=[1], worth=[-1.0]), "importance": "worth"},
            ParameterError,
            "'worth' of left",
        ),
        (
            {"right": table(time=[0], b=[1], worth=[None]), "importance": "worth"},
            ParameterError,
            "'worth' of right",
        ),
        ({"left": table(time=[0, None], a=[1, 1])}, ParameterError, "1 rows of left"),
        ({"left": table(time=["now"], a=[1])}, ColumnTypeError, "no time"),
        ({"left": table(time=[0], a=["1"])}, ColumnTypeError, "cannot equal"),
        (
            {"left": table(time=[at(0)], a=[1])},
            ColumnTypeError,
            "compared",
        ),
        (
            {"relation": table(a=[1], b=[1], **{"from": ["x"], "to": [5]})},
            ColumnTypeError,
            "'from' of relation",
        ),
    ],
)
def test_refused(changes: dict[str, Any], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=rf"{says}(.|\n)*\nFix: "):
        star_join(archive(**changes))


@pytest.mark.parametrize(
    "options",
    [
        {"rows": -2},
        {"rows": 2.0},
        {"rows": (1, 2, 3)},
        {"rows": (1, -1)},
        {"rows": 2, "most": "size"},
        {"rows": 2, "discipline": "probe"},
        {"rows": 2, "prefilter": True},
    ],
)
def test_refused_options(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"\nFix: "):
        star_optimum(archive(), **options)
