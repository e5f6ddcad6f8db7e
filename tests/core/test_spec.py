"""What a join's stored state depends on, and how far its window reaches."""

import pickle
from dataclasses import fields, replace
from typing import Any

import pytest

from shedjoin.policies import Fifo, Greedy
from shedjoin.spec.budget import Budget
from shedjoin.spec.keys import OutputColumn
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec, SideSpec
from shedjoin.types import LEFT, RIGHT

LEFT_SIDE = SideSpec(
    (("k", "bigint"), ("t", "timestamp"), ("u", "timestamp")), ("k",), "t"
)
RIGHT_SIDE = SideSpec(
    (("j", "bigint"), ("t", "timestamp"), ("v", "double")), ("j",), "t"
)
OUTPUT = (OutputColumn(LEFT, "k", "k"), OutputColumn(RIGHT, "t", "t_right"))
SPEC = JoinSpec(LEFT_SIDE, RIGHT_SIDE, 60_000_000, 3_600_000_000, 8, True, OUTPUT)

CHANGES: dict[str, dict[str, Any]] = {
    "before": {"before_us": 60_000_001},
    "after": {"after_us": 0},
    "window turned round": {"before_us": SPEC.after_us, "after_us": SPEC.before_us},
    "shards": {"shards": 9},
    "direct": {"direct": False},
    "sides turned round": {"left": RIGHT_SIDE, "right": LEFT_SIDE},
    "left time": {"left": replace(LEFT_SIDE, time="u")},
    "right key": {"right": replace(RIGHT_SIDE, keys=("v",))},
    "more keys": {"right": replace(RIGHT_SIDE, keys=("j", "v"))},
    "left type": {
        "left": replace(LEFT_SIDE, columns=(("k", "int"), ("t", "timestamp")))
    },
    "right column added": {
        "right": replace(RIGHT_SIDE, columns=(*RIGHT_SIDE.columns, ("w", "int")))
    },
    "left column gone": {"left": replace(LEFT_SIDE, columns=LEFT_SIDE.columns[:2])},
    "right columns in another order": {
        "right": replace(RIGHT_SIDE, columns=RIGHT_SIDE.columns[::-1])
    },
}


@pytest.mark.parametrize("change", CHANGES)
def test_state_depends_on(change: str) -> None:
    assert replace(SPEC, **CHANGES[change]).fingerprint() != SPEC.fingerprint()


def test_changes_differ_from_each_other() -> None:
    prints = {replace(SPEC, **change).fingerprint() for change in CHANGES.values()}
    assert len(prints) == len(CHANGES)


def test_every_field_but_the_output_is_tried() -> None:
    tried = {name for change in CHANGES.values() for name in change}
    free = {"output", "shedding"}
    assert tried == {field.name for field in fields(JoinSpec)} - free


def test_budget_and_policy_may_change_but_not_whether_there_is_one() -> None:
    budgets = [
        Shedding(Budget(rows=5), Fifo()),
        Shedding(Budget(memory="1 MB", split=0.5), Greedy(), "shed_then_join"),
    ]
    prints = {replace(SPEC, shedding=one).fingerprint() for one in budgets}
    assert len(prints) == 1
    assert SPEC.fingerprint() not in prints


@pytest.mark.parametrize(
    "output",
    [
        (),
        OUTPUT[::-1],
        (OutputColumn(LEFT, "k", "key"), OutputColumn(RIGHT, "t", "t_r")),
    ],
)
def test_state_does_not_depend_on_names(output: tuple[OutputColumn, ...]) -> None:
    assert replace(SPEC, output=output).fingerprint() == SPEC.fingerprint()


def test_fingerprint_is_the_same_everywhere() -> None:
    # Written into checkpoints: it must never change for the same join.
    assert SPEC.fingerprint() == "e3b32d8e8ef540ae"


def test_spec_travels() -> None:
    copy = pickle.loads(pickle.dumps(SPEC))
    assert copy == SPEC
    assert copy.fingerprint() == SPEC.fingerprint()


def test_reach_and_keep() -> None:
    minute, hour = SPEC.before_us, SPEC.after_us
    assert SPEC.reach(LEFT) == (minute, hour)
    assert SPEC.reach(RIGHT) == (hour, minute)
    assert SPEC.keep_us(LEFT) == hour  # a right row may come so much later
    assert SPEC.keep_us(RIGHT) == minute


def test_sides() -> None:
    assert SPEC.sides == (LEFT_SIDE, RIGHT_SIDE)
    assert SPEC.sides[LEFT] is SPEC.left
