"""Queries that are stopped and started again with other arguments.

What may change is written in ``docs/restarts.md``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from shedjoin import Budget, Successive, local, policies
from shedjoin.policies import EqCluster, Fifo, MostImportant, PpsCluster, Prob, Sample
from support.asked import asked

from . import relations, several, steered
from .pairs import BUDGETS, pair
from .queries import Query
from .streams import BATCHES

_ROWS, _MORE, _SPLIT, _BYTES = BUDGETS
_FEW = Budget(rows=30)
_IMPORTANT = MostImportant((None, "right_amount"))


class Case(NamedTuple):
    """A join, and the arguments of one start after the other."""

    join: Callable[[int], Callable[..., local.Run]]
    starts: tuple[Mapping[str, Any], ...]
    table: bool = False
    messages: Sequence[steered.Message] = ()


def _start(budget: Budget, keep: object = None, **more: object) -> dict[str, Any]:
    return {"budget": budget, "keep": keep, **asked(more)}


def _table(stream: int) -> Callable[..., local.Run]:
    return relations.star(stream, table=True)


def _changes(stream: int) -> Callable[..., local.Run]:
    return relations.star(stream, table=False)


def _comes_and_goes(*limited: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Start without a budget before, between and after starts with one."""
    first, second = limited
    return ({}, first, {}, second)


_CHANGED = (_start(_ROWS, Prob()), _start(Budget(rows=0)), _start(_BYTES, Fifo()))
_SMALL = several.BUDGETS
_STAR = relations.BUDGETS
CASES = (
    Case(pair, _comes_and_goes(_start(_ROWS, Prob()), _start(_BYTES))),
    Case(pair, (*_CHANGED, _start(_SPLIT, Prob()))),
    Case(
        pair,
        (
            _start(_ROWS, EqCluster(4)),
            _start(_FEW, PpsCluster(4)),
            _start(_MORE, EqCluster(4)),
        ),
    ),
    Case(pair, (_start(_ROWS, Sample()), _start(_MORE, Prob()), {})),
    Case(
        pair,
        (
            _start(_ROWS, Prob()),
            _start(_ROWS, _IMPORTANT),
            _start(_ROWS, Prob(), recompute=Successive()),
            _start(_BYTES, _IMPORTANT, discipline="shed_then_join"),
        ),
    ),
    Case(pair, ({}, _start(_MORE, EqCluster(4)), _start(_FEW, EqCluster(4)))),
    Case(several.three, _comes_and_goes(_start(_SMALL[0]), _start(_SMALL[2], Fifo()))),
    Case(
        several.three,
        (
            _start(_SMALL[1], Prob()),
            _start(_SMALL[2]),
            _start(_SMALL[0], MostImportant("worth", by=policies.Greedy())),
            _start(_SMALL[0], Fifo()),
        ),
    ),
    Case(several.band, _comes_and_goes(_start(_SMALL[0]), _start(_SMALL[2], Fifo()))),
    Case(
        several.band,
        (_start(Budget(cpu=0.5)), _start(_SMALL[1]), {}, _start(Budget(cpu=0.5))),
    ),
    Case(_table, _comes_and_goes(_start(_STAR[0]), _start(_STAR[2], Prob())), True),
    Case(_table, (_start(_STAR[1]), _start(_STAR[0], Fifo()), _start(_STAR[2])), True),
    Case(
        _changes,
        _comes_and_goes(
            _start(_STAR[0], delay="8 seconds"), _start(_STAR[2], policies.Dgl())
        ),
    ),
    Case(
        _changes,
        (
            _start(_STAR[1], delay="8 seconds"),
            _start(_STAR[0], MostImportant("worth")),
            _start(_STAR[2], Prob(), delay="4 seconds"),
        ),
    ),
    Case(pair, ({}, _start(_ROWS, Fifo()), {}), messages=steered.CASES[0].messages),
    Case(
        several.three,
        ({}, _start(_SMALL[1], Fifo()), {}),
        messages=steered.CASES[6].messages,
    ),
)


def restarted(stream: int, *, other: bool) -> Query:
    """Return a query of several starts; ``other`` is started at other times."""
    case = CASES[stream % len(CASES)]
    rng = random.Random(stream + 1000 * other)
    later = sorted(rng.sample(range(1, BATCHES), len(case.starts) - 1))
    control = {}
    if case.messages:
        control = {"control": steered.messages(case.messages, stream)}
    starts = {
        first: {**options, **control}
        for first, options in zip((0, *later), case.starts, strict=True)
    }
    return Query(case.join(stream), starts, table=case.table, steered=bool(control))
