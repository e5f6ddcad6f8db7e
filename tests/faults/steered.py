"""Joins that control messages steer: budgets, policies, throttles and importance."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from shedjoin import Budget, local, policies

from .pairs import pair
from .queries import Query
from .several import band, three
from .streams import BATCHES

Message = Mapping[str, Any]
_AS_STARTED: Message = {"budget": "as started", "policy": "as started"}
_BUDGETS: tuple[Message, ...] = (
    {"budget": {"rows": 40}},
    {"budget": {"rows": 120}},
    {"budget": {"memory": "16 kB"}},
    _AS_STARTED,
)
_POLICIES: tuple[Message, ...] = (
    {"budget": {"rows": 80}, "policy": {"name": "Prob"}},
    {"policy": {"name": "Fifo"}},
    {"policy": {"name": "Rand", "parameters": {"seed": 7}}},
)
_THROTTLES: tuple[Message, ...] = (
    {"throttle": {"share": 0.2}},
    {"throttle": {"share": 0.6, "update": 2.0}},
    {"throttle": {"share": 1.0}},
    {"budget": {"cpu": 0.3}},
)
_IMPORTANCE: tuple[Message, ...] = (
    {"importance": {"right": {"column": "right_amount"}}},
    {
        "importance": {
            "left": {"column": "left_note", "weights": {"note 3": 5}, "default": 1}
        }
    },
    {"importance": "as started"},
)
_HARVESTS: tuple[Message, ...] = (
    {"policy": {"name": "RandomDrop"}},
    {"policy": {"name": "Harvest"}},
)
_SEVERAL = tuple(
    {"budget": {"rows": rows}} | more
    for rows in (20, 45)
    for more in ({}, {"policy": {"name": "Recent"}})
)


class Case(NamedTuple):
    """A join, how it is started, and messages that it may be sent."""

    join: Callable[[int], Callable[..., local.Run]]
    started: Mapping[str, Any]
    messages: Sequence[Message]


CASES = (
    Case(pair, {}, _BUDGETS + _POLICIES),
    Case(pair, {"budget": Budget(rows=70)}, _BUDGETS + _POLICIES + _IMPORTANCE),
    Case(
        pair,
        {"budget": Budget(rows=90), "keep": policies.MostImportant("right_amount")},
        _BUDGETS + _IMPORTANCE,
    ),
    Case(
        pair,
        {"budget": Budget(rows=90), "keep": policies.Sample()},
        _BUDGETS + _THROTTLES,
    ),
    Case(pair, {"budget": Budget(cpu=0.5)}, _THROTTLES + _BUDGETS),
    Case(pair, {"budget": Budget(rows=90, cpu=0.5)}, _THROTTLES + _POLICIES),
    Case(three, {}, (*_SEVERAL, _AS_STARTED)),
    Case(three, {"budget": Budget(rows=40)}, (*_SEVERAL, _AS_STARTED)),
    Case(band, {}, (*_SEVERAL, _AS_STARTED)),
    Case(band, {"budget": Budget(rows=30)}, (*_SEVERAL, *_POLICIES)),
    Case(band, {"budget": Budget(cpu=0.5)}, _THROTTLES + _HARVESTS + _BUDGETS[:1]),
)


def steered(stream: int, *, other: bool) -> Query:
    """Return a steered join; ``other`` is sent other messages."""
    case = CASES[stream % len(CASES)]
    control = messages(case.messages, stream + 1000 * other)
    return Query(
        case.join(stream), {0: {**case.started, "control": control}}, steered=True
    )


def messages(choices: Sequence[Message], seed: int) -> dict[int, list[Message]]:
    """Draw messages for about half of the micro-batches; some bring two."""
    rng = random.Random(seed)
    return {
        number: rng.sample(choices, rng.choice((1, 1, 2)))
        for number in range(BATCHES)
        if rng.random() < 0.5
    }
