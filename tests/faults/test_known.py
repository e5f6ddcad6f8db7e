"""Schedules that once gave wrong rows, and a fault at every single call."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from .joins import KINDS, Kind
from .schedule import Attempt, Beside, Schedule, Turn
from .world import play

STREAMS = (6, 9)
LEAD = (Turn(),) * 3
HERE, THERE = Attempt(node=0), Attempt(node=1)
FAULTS = ("killed", "stands still", "no room")
EVERY = 1 if "FAULT_SEQUENCES" in os.environ else 61
"""At every call, or, in the usual run of all tests, at some."""
each_kind = pytest.mark.parametrize("kind", KINDS)

KNOWN: dict[str, tuple[Turn, ...]] = {
    "lost after its end, then another node, then back": (
        Turn(before=(HERE,), winner=THERE),
        Turn(winner=HERE),
    ),
    "lost after its end, then the disk is full": (
        Turn(before=(HERE,), winner=Attempt(full=1)),
        Turn(winner=HERE),
    ),
    "a twin that began first ends last": (
        Turn(before=(Attempt(pause=3, wakes=2), HERE), winner=HERE),
        Turn(before=(HERE,), winner=HERE),
    ),
    "the slower twin wins": (
        Turn(winner=Attempt(node=1, pause=1), during=(HERE,)),
        Turn(winner=HERE),
    ),
    "rows that were planned but never committed": (
        Turn(before=(Attempt(astray=True),), winner=HERE),
        Turn(before=(Attempt(astray=True),), winner=THERE),
    ),
}
SWEPT: dict[str, Callable[[int], tuple[Turn, ...]]] = {
    "killed, then the same node": lambda k: (Turn(before=(Attempt(kill=k),)),),
    "killed, then another node": lambda k: (
        Turn(before=(Attempt(kill=k),), winner=THERE),
    ),
    "goes on after the commit": lambda k: (Turn(before=(Attempt(pause=k, wakes=1),)),),
    "goes on after the next commit, on another node": lambda k: (
        Turn(before=(Attempt(pause=k, wakes=2),), winner=THERE),
        Turn(winner=THERE),
    ),
    "wins after a twin on its node": lambda k: (
        Turn(winner=Attempt(pause=k), during=(HERE,)),
    ),
    "its disk is full": lambda k: (Turn(before=(HERE,), winner=Attempt(full=k)),),
}


@each_kind
@pytest.mark.parametrize("name", KNOWN)
def test_known_schedule(kind: Kind, name: str) -> None:
    for stream in STREAMS:
        play(kind, Schedule(stream=stream, turns=LEAD + KNOWN[name]))


@each_kind
@pytest.mark.parametrize("beside", ["twin", "other"])
def test_two_joins_that_see_the_same_rows(kind: Kind, beside: Beside) -> None:
    for stream in STREAMS:
        play(kind, Schedule(stream=stream, beside=beside, turns=LEAD))


@each_kind
@pytest.mark.parametrize("name", SWEPT)
def test_a_fault_at_every_call(kind: Kind, name: str) -> None:
    for call in range(1, 1000, EVERY):
        happened = play(kind, Schedule(stream=6, turns=LEAD + SWEPT[name](call)))
        if not any(fault in line for line in happened for fault in FAULTS):
            return
    pytest.fail("an attempt makes no end of calls")
