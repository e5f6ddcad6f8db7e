"""Schedules that once gave wrong rows, and a fault at every single call."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .drawn import CALLS
from .effort import THOROUGH, combined
from .joins import KINDS, Kind, make_join
from .restarted import CASES
from .schedule import Attempt, Beside, Schedule, Turn
from .streams import BATCHES
from .world import play

STREAMS = (8, 9) if THOROUGH else (8,)
LEAD = (Turn(),) * 3
HERE, THERE = Attempt(node=0), Attempt(node=1)
FAULTS = ("killed", "stands still", "no room")
BESIDE: tuple[Beside, ...] = ("twin", "other")

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


@pytest.mark.parametrize(("kind", "name"), combined(KINDS, KNOWN))
def test_known_schedule(kind: Kind, name: str) -> None:
    for stream in STREAMS:
        play(kind, Schedule(stream=stream, turns=LEAD + KNOWN[name]))


@pytest.mark.parametrize("stream", range(len(CASES)) if THOROUGH else (1, 10))
def test_stopped_and_started_again_with_other_arguments(stream: int) -> None:
    """Attempts of the start before run to their end, but are never committed."""
    firsts = make_join("restarted", stream).query.starts
    lost = Turn(before=(Attempt(former=True), Attempt(former=True, node=1)))
    turns = [lost if number in firsts else Turn() for number in range(BATCHES)]
    happened = play("restarted", Schedule(stream=stream, turns=tuple(turns)))
    assert sum("(start before)" in line for line in happened) == 2 * (len(firsts) - 1)


@pytest.mark.parametrize(("kind", "beside"), combined(KINDS, BESIDE))
def test_two_joins_that_see_the_same_rows(kind: Kind, beside: Beside) -> None:
    for stream in STREAMS:
        play(kind, Schedule(stream=stream, beside=beside, turns=LEAD))


@pytest.mark.parametrize(("kind", "name"), combined(KINDS, SWEPT))
def test_a_fault_at_every_call(kind: Kind, name: str) -> None:
    """In the ordinary run, at some calls only."""
    every = 1 if THOROUGH else CALLS[kind] // 2
    for call in range(1, 10_000, every):
        happened = play(
            kind, Schedule(stream=STREAMS[0], turns=LEAD + SWEPT[name](call))
        )
        if not any(fault in line for line in happened for fault in FAULTS):
            return
    pytest.fail("an attempt makes no end of calls")
