"""Predicates: every wrong value is refused, with what to write instead."""

from __future__ import annotations

import pickle
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import (
    Band,
    Budget,
    MostImportant,
    Sample,
    Successive,
    Where,
    Within,
    local,
)
from shedjoin.columns.terms import Streams
from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError
from shedjoin.policies import Harvest, IJoin, Prob
from shedjoin.spec.conditions import split_on
from shedjoin.spec.terms import BandTerm, CheckTerm, CompareTerm
from support.asked import asked

LEFT = pa.schema(
    [
        ("x", pa.float64()),
        ("n", pa.int32()),
        ("at", pa.timestamp("us", "UTC")),
        ("day", pa.date32()),
        ("price", pa.decimal128(9, 2)),
        ("name", pa.string()),
        ("flag", pa.bool_()),
        ("a.b", pa.int64()),
    ]
)
RIGHT = LEFT.append(pa.field("small", pa.float32())).append(
    pa.field("plain", pa.timestamp("us"))
)
STREAMS = Streams(("left", "right"), (LEFT, RIGHT))


@pytest.mark.parametrize(
    ("column", "eps", "problem"),
    [
        ("x", -1, "is negative"),
        ("x", -0.5, "is negative"),
        ("x", "-1 second", "is negative"),
        ("x", float("nan"), "no finite number"),
        ("x", float("inf"), "no finite number"),
        ("x", True, "no finite number"),
        ("x", None, "no finite number"),
        ("x", "soon", "is not a duration"),
        ("", 1, "names no column"),
        (7, 1, "names no column"),
        ({}, 1, "names no column"),
        ({"left": 7}, 1, "names no column"),
    ],
)
def test_bands_are_checked(column: Any, eps: Any, problem: str) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=problem):
        Band(column, eps)


@pytest.mark.parametrize(
    "condition",
    [
        (),
        ("left.x",),
        ("left.x", "<"),
        ("left.x", "==", "right.x"),
        ("left.x", "<", 5),
        (len,),
        (len, 3),
    ],
)
def test_conditions_are_checked(condition: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match="is no condition"):
        Where(*condition)


@pytest.mark.parametrize(
    ("predicate", "error", "problem"),
    [
        (Band("y", 1), ColumnError, "no column 'y'"),
        (Band({"left": "x"}, 1), ParameterError, "is given for"),
        (Band("price", 1), ColumnTypeError, "has no distances"),
        (Band("name", 1), ColumnTypeError, "has no distances"),
        (Band("flag", 1), ColumnTypeError, "has no distances"),
        (Band({"left": "x", "right": "n"}, 1), ColumnTypeError, "of types"),
        (Band({"left": "x", "right": "small"}, 1), ColumnTypeError, "of types"),
        (Band({"left": "at", "right": "plain"}, "1 day"), ColumnTypeError, "of types"),
        (Band("at", 5), ParameterError, "is no duration"),
        (Band("x", "5 seconds"), ParameterError, "is a duration"),
        (Band("x", 10**400), ParameterError, "greater than all"),
        (Where("left.x", "<", "right.y"), ColumnError, "no column 'y'"),
        (Where("left.x", "<", "middle.x"), ParameterError, "not a column of the"),
        (Where("x", "<", "right.x"), ParameterError, "not a column of the"),
        (Where("left.x", "<", "left.n"), ParameterError, "one stream alone"),
        (Where(np.less, "left.x", "left.n"), ParameterError, "one stream alone"),
        (Where("left.x", "<", "right.n"), ColumnTypeError, "of types"),
        (Where("left.name", "<", "right.x"), ColumnTypeError, "of types"),
    ],
)  # fmt: skip
def test_columns_are_checked(
    predicate: Band | Where, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        STREAMS.terms([predicate])


@pytest.mark.parametrize(
    ("predicate", "term"),
    [
        (Band("x", 1), BandTerm(("x", "x"), 1.0, "float64")),
        (Band("n", 2.7), BandTerm(("n", "n"), 2, "integer")),
        (Band({"right": "n", "left": "a.b"}, 0), BandTerm(("a.b", "n"), 0, "integer")),
        (Band("at", "1 millisecond"),
         BandTerm(("at", "at"), 1000, "integer")),
        (Band("day", timedelta(hours=47)), BandTerm(("day", "day"), 1, "integer")),
        (Where("left.x", "<", "right.x"),
         CompareTerm((0, 1), ("x", "x"), "<", "float64")),
        (Where("right.n", "=", "left.a.b"),
         CompareTerm((1, 0), ("n", "a.b"), "=", "integer")),
        (Where("left.name", ">=", "right.name"),
         CheckTerm((0, 1), ("name", "name"), ">=")),
        (Where("left.price", "!=", "right.price"),
         CheckTerm((0, 1), ("price", "price"), "!=")),
        (Where(max, "left.x", "right.n", "left.name"),
         CheckTerm((0, 1, 0), ("x", "n", "name"), max)),
    ],
)  # fmt: skip
def test_what_predicates_mean(predicate: Band | Where, term: object) -> None:
    assert STREAMS.terms([predicate]) == (term,)


def test_predicates_are_values() -> None:
    given = [Band({"left": "x", "right": "y"}, 0.5), Where("left.x", "<", "right.y")]
    for one in given:
        assert eval(repr(one)) == one  # noqa: S307  (of our own)
        assert pickle.loads(pickle.dumps(one)) == one
        assert hash(one) == hash(pickle.loads(pickle.dumps(one)))


def test_keys_and_predicates_are_told_apart() -> None:
    band = Band("x", 1)
    assert split_on(band).keyless
    assert split_on([band]).keyless
    assert split_on(("k", band, "m")) == (["k", "m"], (band,))
    assert split_on([{"a": "k", "b": "m"}, band]) == ({"a": "k", "b": "m"}, (band,))
    assert not split_on([]).keyless
    assert not split_on(None).keyless


CPU = Budget(cpu=0.5)


def test_budgets_and_policies_that_do_not_fit() -> None:
    table = RIGHT.empty_table()
    settings: dict[str, Any] = {
        "on": Band("x", 1),
        "within": Within(after="1 second"),
        "time": ("at", "at"),
    }
    for wrong, match in (
        ({"budget": Budget(rows=5, cpu=0.5)}, "limits memory and time"),
        ({"budget": CPU, "keep": MostImportant("x", by=Harvest())}, "no importance"),
        ({"budget": Budget(rows=5), "keep": Harvest()}, "limits memory"),
        ({"budget": Budget(rows=5), "keep": IJoin()}, "by pairs"),
        ({"budget": Budget(rows=5), "keep": Sample()}, "draws a sample"),
        ({"budget": Budget(rows=5), "discipline": "shed_then_join"}, "always probes"),
        ({"budget": Budget(rows=5), "recompute": Successive()}, "always computes"),
    ):
        with pytest.raises(ParameterError, match=match):
            local.join([(table, table)], **asked({**wrong, **settings}))
    with pytest.raises(ParameterError, match="limits time alone"):
        local.join([(table, table)], budget=CPU, keep=Prob(), **asked(settings))
    by_key = settings | {"on": "x"}
    with pytest.raises(ParameterError, match="joins by Band or Where"):
        local.join([(table, table)], budget=CPU, keep=Harvest(), **asked(by_key))
    # A message that cannot be followed is noted, and the join goes on.
    control = {1: [{"budget": {"rows": 1000}}]}
    run = local.join([(table, table)] * 3, control=control, **asked(settings))
    assert len(run.batches) == 3
