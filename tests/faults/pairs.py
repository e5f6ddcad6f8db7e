"""Joins of two streams by key: exact, with a budget, and samples."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from local.runs import window_of
from shedjoin import Budget, local, policies
from support.keys import key_fields
from support.streams import tables

from .queries import Query, once
from .streams import make_stream

TIMES = ("left_time", "right_time")
BLOBS = 2
"""Blobs of a stream and micro-batch: their order must not matter."""
BUDGETS = (
    Budget(rows=50),
    Budget(rows=120),
    Budget(rows=90, split=0.5),
    Budget(memory="16 kB"),
)
_KEPT = (policies.Fifo(), policies.Prob(), policies.MostResults())
_SAMPLED = (policies.PpsCluster(), policies.Sample(), policies.Uniform())


def pair(stream: int) -> Callable[..., local.Run]:
    """Join the two streams of this number; budget and policy are left open."""
    case = make_stream(stream)
    left_ms, right_ms = case.delays_ms
    return partial(
        local.join,
        tables(case),
        on=[name for name, _ in key_fields(case.key_kind)],
        within=window_of(case),
        time=TIMES,
        lateness=(timedelta(milliseconds=left_ms), timedelta(milliseconds=right_ms)),
        blobs=BLOBS,
    )


def exact(stream: int, *, other: bool) -> Query:
    """Return an exact join; there is no ``other`` one."""
    del other
    return once(pair(stream))


def budgeted(stream: int, *, other: bool) -> Query:
    """Return a join with a memory budget; ``other`` has another policy."""
    return _chosen(stream, _KEPT, policies.Rand() if other else None)


def sampled(stream: int, *, other: bool) -> Query:
    """Return a sample of a join; ``other`` is drawn in another way."""
    return _chosen(stream, _SAMPLED, policies.EqCluster(seed=1) if other else None)


def _chosen(stream: int, choices: tuple[Any, ...], instead: object) -> Query:
    budget = BUDGETS[stream // len(choices) % len(BUDGETS)]
    keep = instead or choices[stream % len(choices)]
    return once(pair(stream), budget=budget, keep=keep)
