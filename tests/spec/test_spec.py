"""What a join's stored state depends on, and how far its window reaches."""

import pickle
from dataclasses import fields, replace
from typing import Any

import pytest

from shedjoin.policies import Fifo, Greedy
from shedjoin.spec.budget import Budget
from shedjoin.spec.cells import Cells
from shedjoin.spec.keys import OutputColumn
from shedjoin.spec.relation import RelationSpec
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec, StreamSpec
from shedjoin.spec.terms import BandTerm, CheckTerm, CompareTerm

MINUTE, HOUR = 60_000_000, 3_600_000_000
LEFT = StreamSpec(
    "left", (("k", "bigint"), ("t", "timestamp"), ("u", "timestamp")), ("k",), "t", HOUR
)
RIGHT = StreamSpec(
    "right", (("j", "bigint"), ("t", "timestamp"), ("v", "double")), ("j",), "t", MINUTE
)
OUTPUT = (OutputColumn(0, "k", "k"), OutputColumn(1, "t", "t_right"))
SPEC = JoinSpec((LEFT, RIGHT), 8, True, OUTPUT)


def left(**changes: object) -> dict[str, Any]:
    return {"streams": (replace(LEFT, **changes), RIGHT)}  # type: ignore[arg-type]


def right(**changes: object) -> dict[str, Any]:
    return {"streams": (LEFT, replace(RIGHT, **changes))}  # type: ignore[arg-type]


RELATION = RelationSpec((("a", "int64"), ("b", "int64")), (("a",), ("b",)))

CHANGES: dict[str, dict[str, Any]] = {
    "before": right(keep_us=MINUTE + 1),
    "after": left(keep_us=0),
    "window turned round": {
        "streams": (replace(LEFT, keep_us=MINUTE), replace(RIGHT, keep_us=HOUR))
    },
    "shards": {"shards": 9},
    "direct": {"direct": False},
    "streams turned round": {"streams": (RIGHT, LEFT)},
    "one more stream": {"streams": (LEFT, RIGHT, RIGHT)},
    "name": left(name="first"),
    "left time": left(time="u"),
    "right key": right(keys=("v",)),
    "more keys": right(keys=("j", "v")),
    "left type": left(columns=(("k", "int"), ("t", "timestamp"))),
    "right column added": right(columns=(*RIGHT.columns, ("w", "int"))),
    "left column gone": left(columns=LEFT.columns[:2]),
    "right columns in another order": right(columns=RIGHT.columns[::-1]),
    "a band": {"terms": (BandTerm(("t", "t"), 5, "integer"),)},
    "another eps": {"terms": (BandTerm(("t", "t"), 6, "integer"),)},
    "another column": {"terms": (BandTerm(("u", "t"), 5, "integer"),)},
    "a comparison": {"terms": (CompareTerm((0, 1), ("t", "t"), "<", "integer"),)},
    "another operator": {"terms": (CompareTerm((0, 1), ("t", "t"), ">", "integer"),)},
    "text compared": {"terms": (CheckTerm((0, 1), ("t", "t"), "<"),)},
    "text compared otherwise": {"terms": (CheckTerm((0, 1), ("t", "t"), ">"),)},
    "cells": {"cells": Cells([1, 2])},
    "cells split": {"cells": Cells([1, 2], [1, 2, 1])},
    "a relation": {"relation": RELATION},
    "another column of it": {"relation": replace(RELATION, begin="u")},
    "a fixed relation": {"relation": replace(RELATION, fixed=True)},
    "a function": {"terms": (CheckTerm((0, 1), ("t", "t"), max),)},
    "rows without a partner": {"how": "left"},
    "left rows alone": {"how": "left_anti"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_state_depends_on(change: str) -> None:
    assert replace(SPEC, **CHANGES[change]).fingerprint() != SPEC.fingerprint()


def test_changes_differ_from_each_other() -> None:
    prints = {replace(SPEC, **change).fingerprint() for change in CHANGES.values()}
    assert len(prints) == len(CHANGES)


def test_every_field_but_the_output_is_tried() -> None:
    tried = {name for change in CHANGES.values() for name in change}
    free = {"output", "shedding", "lateness_us"}
    assert tried == {field.name for field in fields(JoinSpec)} - free


def test_the_delay_of_watermarks_may_change() -> None:
    assert replace(SPEC, lateness_us=5).fingerprint() == SPEC.fingerprint()


def test_the_delay_of_a_relation_may_change() -> None:
    prints = {
        replace(SPEC, relation=replace(RELATION, delay_us=delay)).fingerprint()
        for delay in (0, 5)
    }
    assert len(prints) == 1


def test_budget_and_policy_may_change() -> None:
    budgets = [
        Shedding(Budget(rows=5), Fifo()),
        Shedding(Budget(memory="1 MB", split=0.5), Greedy(), "shed_then_join"),
    ]
    prints = {replace(SPEC, shedding=one).fingerprint() for one in budgets}
    assert prints == {SPEC.fingerprint()}


def test_a_function_may_change() -> None:
    one, other = (CheckTerm((0, 1), ("t", "t"), test) for test in (max, min))
    prints = [replace(SPEC, terms=(term,)).fingerprint() for term in (one, other)]
    assert prints[0] == prints[1]


@pytest.mark.parametrize(
    "output",
    [
        (),
        OUTPUT[::-1],
        (OutputColumn(0, "k", "key"), OutputColumn(1, "t", "t_r")),
    ],
)
def test_state_does_not_depend_on_names(output: tuple[OutputColumn, ...]) -> None:
    assert replace(SPEC, output=output).fingerprint() == SPEC.fingerprint()


def test_fingerprint_is_the_same_everywhere() -> None:
    # Written into checkpoints: it must never change for the same join.
    assert SPEC.fingerprint() == "5c54c7be745a5465"


def test_spec_travels() -> None:
    copy = pickle.loads(pickle.dumps(SPEC))
    assert copy == SPEC
    assert copy.fingerprint() == SPEC.fingerprint()


def test_how_long_rows_are_kept() -> None:
    assert SPEC.keeps_us == (HOUR, MINUTE)  # a right row may come an hour later
    assert SPEC.window_us == HOUR
    gap = replace(SPEC, streams=(replace(LEFT, keep_us=-5), replace(RIGHT, keep_us=-1)))
    assert gap.window_us == 0


def test_streams_have_names() -> None:
    assert SPEC.names == ("left", "right")
