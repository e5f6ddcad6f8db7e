"""Schedules drawn by hypothesis; the fewer turns and faults the simpler."""

from __future__ import annotations

from hypothesis import strategies as st

from .joins import Kind
from .schedule import (
    WORKERS,
    Attempt,
    Beside,
    Damage,
    Ending,
    Harm,
    Schedule,
    Turn,
)

STREAMS = 32
CALLS: dict[Kind, int] = {
    "exact": 250,
    "budgeted": 250,
    "sampled": 250,
    "three_exact": 350,
    "three_budgeted": 800,
    "band_exact": 800,
    "band_budgeted": 700,
    "band_throttled": 900,
    "star_table": 250,
    "star_table_budgeted": 250,
    "star_changes": 400,
    "star_changes_budgeted": 400,
    "relation": 200,
    "steered": 600,
    "restarted": 500,
}
"""About as many calls as an attempt makes; a fault planned for later never comes."""

_nodes = st.sampled_from((0, 0, 0, 1, 2))  # Spark prefers the node that was used last
_workers = st.integers(0, WORKERS - 1)
_rarely = st.sampled_from((False, False, False, False, False, True))
_endings: st.SearchStrategy[Ending] = st.sampled_from(("finishes", "dies", "closes"))
_damages: st.SearchStrategy[Damage] = st.sampled_from(
    ("missing", "truncated", "zeroed")
)


@st.composite
def _full(draw: st.DrawFn, calls: int) -> int | None:
    """The write at which the disk is full; now and then. Half of the calls write."""
    return draw(st.integers(1, calls // 2)) if draw(_rarely) else None


@st.composite
def _lost(draw: st.DrawFn, calls: int, *, restarts: bool) -> Attempt:
    """An attempt whose state is lost: after its end, killed, or too slow."""
    fate = draw(st.sampled_from(("ends", "is killed", "pauses")))
    at, pauses = st.integers(1, calls), fate == "pauses"
    return Attempt(
        node=draw(_nodes),
        worker=draw(_workers),
        kill=draw(at) if fate == "is killed" else None,
        pause=draw(at) if pauses else None,
        wakes=draw(st.integers(0, 4)) if pauses else 0,
        ending=draw(_endings) if pauses else "finishes",
        full=draw(_full(calls)),
        astray=fate == "ends" and draw(st.integers(0, 3)) == 3,
        former=restarts and draw(st.booleans()),
        sweeps=draw(_rarely),
    )


@st.composite
def _turn(draw: st.DrawFn, kind: Kind, *, beside: bool, harm: bool) -> Turn:
    calls, harmed = CALLS[kind], harm and draw(st.booleans())
    losers = st.lists(_lost(calls, restarts=kind == "restarted"), max_size=2)
    before = draw(losers)
    slow = draw(st.sampled_from((False, False, False, True)))
    winner = Attempt(
        node=draw(_nodes),
        worker=draw(_workers),
        pause=draw(st.integers(1, calls)) if slow else None,
        full=draw(_full(calls)),
        sweeps=draw(_rarely),
    )
    during = draw(losers) if slow else []
    return Turn(
        before=tuple(before),
        winner=winner,
        during=tuple(during),
        harm=draw(_harm()) if harmed else None,
        beside=Attempt(draw(_nodes), draw(_workers)) if beside else Attempt(),
        beside_first=beside and draw(st.booleans()),
    )


@st.composite
def _harm(draw: st.DrawFn) -> Harm:
    return Harm(draw(_nodes), draw(_damages), draw(st.integers(0, 63)))


@st.composite
def schedules(
    draw: st.DrawFn,
    kind: Kind,
    *,
    beside: tuple[Beside, ...] = ("nobody",),
    harm: bool = False,
) -> Schedule:
    """Draw a schedule, of damage and of two joins in a query only if asked for."""
    other = draw(st.sampled_from(beside))
    turns = _turn(kind, beside=other != "nobody", harm=harm)
    lead = draw(st.integers(0, 4))  # micro-batches that fill the window undisturbed
    faulty = draw(st.lists(turns, min_size=1, max_size=4))
    return Schedule(
        stream=draw(st.integers(0, STREAMS - 1)),
        beside=other,
        turns=(Turn(),) * lead + tuple(faulty),
    )
