"""A two-stream window join with too little memory, slow and obvious.

Three disciplines. ``shed_then_join``: at an instant the expired leave, all newcomers
enter, the lowest scores leave until the memory suffices, and what is left is joined.
``probe_then_insert``: one arrival after the other removes the expired, meets the
opposite residents, enters, and then the lowest score leaves. ``probe_then_shed``: at an
instant the expired leave, all newcomers enter, all are joined, the lowest scores leave.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal, NamedTuple

from .clock import Clock

Order = Literal["shed_then_join", "probe_then_insert", "probe_then_shed"]
Ties = Literal["oldest", "newest"]


class Arrival(NamedTuple):
    """One row of a stream; side 0 or 1."""

    time: int
    side: int
    key: int
    importance: float = 1.0


@dataclass(eq=False, slots=True)
class Resident:
    """An arrival in memory, with what is known of its matches.

    Attributes
    ----------
    number
        Place in the whole input, both sides counted together, from 0.
    last_match
        Time of the newest match; the arrival time while there is none.
    match_times
        Time of every match so far.
    stored
        The priority of the last recomputation; the importance before it.
    """

    number: int
    time: int
    side: int
    key: int
    importance: float
    last_match: int
    stored: float
    match_times: list[int] = field(default_factory=list)

    @property
    def matches(self) -> int:
        """Matches so far, all worth one."""
        return len(self.match_times)

    def age(self, now: float) -> float:
        """Time in memory; none for a row that is ahead of the clock."""
        return max(0, now - self.time)

    def decayed_matches(self, now: float, decay: float) -> float:
        """Matches so far, each worth exp(-decay * its age)."""
        now = max(now, self.last_match)
        return sum(math.exp(-decay * (now - time)) for time in self.match_times)

    def match(self, time: int) -> None:
        """Count a match."""
        self.match_times.append(time)
        self.last_match = time


@dataclass(frozen=True, slots=True)
class Rules:
    """How a join sheds.

    Attributes
    ----------
    window
        One length, or one per side.
    capacity
        One per side, or one number for both sides together, or None for no limit.
    closed
        Whether an age equal to the window still belongs to it.
    ties
        Which of equal scores leaves first.
    look_ahead
        Reading "now", for ``shed_then_join``: the matches of this instant are counted
        before the victims are picked, also those that shedding then prevents.
    dropped_probe
        For ``shed_then_join``: newcomers that were shed still meet the opposite side.
    instant_meets
        And each other: rows of one instant are joined, whoever of them was shed.
    wary
        The clock runs ahead of the slower stream by little (see ``Clock``). The papers'
        clock is the time of the arrival.
    """

    order: Order
    window: int | tuple[int, int]
    capacity: tuple[int, int] | int | None
    closed: bool = False
    ties: Ties = "oldest"
    look_ahead: bool = False
    dropped_probe: bool = False
    instant_meets: bool = False
    wary: bool = False


class Outcome(NamedTuple):
    """What a join did.

    Attributes
    ----------
    pairs
        Emitted matches as (number on side 0, number on side 1).
    importance, gains
        Sum over the pairs of the smaller importance: in all, and per instant.
    buffers
        Numbers of the residents of both sides after each instant, oldest first.
    lifetimes
        For every arrival, time in memory: until eviction, expiry or end of run,
        which is one unit after the last instant; 0 if dropped on arrival.
    sheds
        Victims of each pool.
    recomputations
        Victims for whose sake priorities were computed anew.
    """

    pairs: list[tuple[int, int]]
    importance: float
    gains: list[float]
    buffers: list[tuple[tuple[int, ...], tuple[int, ...]]]
    lifetimes: list[float]
    sheds: list[int]
    recomputations: int


class Simulation:
    """The state of a join; policies may look at all of it.

    Attributes
    ----------
    buffers
        Residents of both sides.
    present
        The buffers as they were before anything was shed at this instant.
    seen
        Per side, how often each key has arrived, newcomers included.
    gains
        Importance emitted at each instant; the last entry is the present instant's.
    sheds
        Victims so far of each pool.
    recomputed
        (pool, victims so far) of each victim that had priorities computed anew.
    """

    def __init__(self, score: Score, rules: Rules) -> None:
        self.score = score
        self.rules = rules
        self.buffers: tuple[list[Resident], list[Resident]] = ([], [])
        self.present: tuple[list[Resident], list[Resident]] = ([], [])
        self.seen: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
        self.gains: list[float] = []
        self.sheds = [0, 0]
        self.recomputed: set[tuple[int, int]] = set()
        self.pairs: list[tuple[int, int]] = []
        self.lifetimes: list[float] = []
        window = rules.window if isinstance(rules.window, int) else max(rules.window)
        self.clock = Clock(window if rules.wary else None)

    def window_of(self, side: int) -> int:
        """Return the window length of a side."""
        window = self.rules.window
        return window if isinstance(window, int) else window[side]

    def pool_of(self, side: int) -> int:
        """Return the pool that holds a side; 0 for both when they share memory."""
        return side if isinstance(self.rules.capacity, tuple) else 0

    def is_over(self, resident: Resident, now: float) -> bool:
        """Whether a resident is out of its window."""
        window, age = self.window_of(resident.side), resident.age(now)
        return age > window or (age == window and not self.rules.closed)

    def expire(self, now: float) -> None:
        """Remove the residents that are out of their window."""
        for buffer in self.buffers:
            for resident in list(buffer):
                if self.is_over(resident, now):
                    buffer.remove(resident)
                    self.lifetimes[resident.number] = self.window_of(resident.side)

    def matches(
        self, newcomers: Sequence[Resident], time: int
    ) -> list[tuple[Resident, Resident]]:
        """Pair newcomers with the opposite residents that are within their window."""
        left, right = (
            [one for one in buffer if not self.is_over(one, time)]
            for buffer in self.buffers
        )
        return matches_of(newcomers, (left, right))

    def admit(self, arrival: Arrival) -> Resident:
        """Put an arrival into memory, however full."""
        time, side, key, importance = arrival
        number = len(self.lifetimes)
        new = Resident(number, time, side, key, importance, time, importance)
        self.lifetimes.append(0)
        self.seen[side][key] += 1
        self.buffers[side].append(new)
        return new

    def shed(self, now: float) -> None:
        """Remove the lowest scores from each pool until it is within capacity."""
        self.present = (list(self.buffers[0]), list(self.buffers[1]))
        capacity = self.rules.capacity
        if isinstance(capacity, tuple):
            self.shed_pool((0,), capacity[0], now)
            self.shed_pool((1,), capacity[1], now)
        elif capacity is not None:
            self.shed_pool((0, 1), capacity, now)

    def shed_pool(self, sides: tuple[int, ...], capacity: int, now: float) -> None:
        """Remove the lowest scores of one pool until it is within capacity."""
        while sum(len(self.buffers[side]) for side in sides) > capacity:
            residents = [one for side in sides for one in self.buffers[side]]
            sign = 1 if self.rules.ties == "oldest" else -1
            victim = min(
                residents,
                key=lambda one: (self.score(one, now, self), sign * one.number),
            )
            self.buffers[victim.side].remove(victim)
            self.lifetimes[victim.number] = victim.age(now)
            self.sheds[self.pool_of(victim.side)] += 1

    def emit(self, one: Resident, other: Resident) -> None:
        """Give out a match."""
        left, right = (one, other) if one.side == 0 else (other, one)
        self.pairs.append((left.number, right.number))
        self.gains[-1] += min(one.importance, other.importance)

    def batch(self, arrivals: Sequence[Arrival], time: int) -> None:
        """``shed_then_join`` one instant."""
        now = self.clock.see(arrivals)
        self.expire(now)
        newcomers = [self.admit(arrival) for arrival in arrivals]
        before = [
            (one, one.matches, one.last_match) for side in self.buffers for one in side
        ]
        if self.rules.look_ahead:
            for one, other in self.matches(newcomers, time):
                one.match(time)
                other.match(time)
        self.shed(now)
        for one, matches, last_match in before:  # a match counts when it happens
            del one.match_times[matches:]
            one.last_match = last_match
        kept = [one for one in newcomers if one in self.buffers[one.side]]
        probing = newcomers if self.rules.dropped_probe else kept
        found = self.matches(probing, time)
        if self.rules.instant_meets:
            left, right = (
                [one for one in newcomers if one.side == side] for side in (0, 1)
            )
            met = {(a.number, b.number) for a, b in found}
            found += [
                pair
                for pair in matches_of(right, (left, []))
                if (pair[0].number, pair[1].number) not in met
                and (pair[1].number, pair[0].number) not in met
            ]
        for one, other in found:
            self.emit(one, other)
            one.match(time)
            other.match(time)

    def whole(self, arrivals: Sequence[Arrival], time: int) -> None:
        """``probe_then_shed`` one instant."""
        now = self.clock.see(arrivals)
        self.expire(now)
        newcomers = [self.admit(arrival) for arrival in arrivals]
        for one, other in self.matches(newcomers, time):
            self.emit(one, other)
            one.match(time)
            other.match(time)
        self.shed(now)

    def single(self, arrival: Arrival) -> None:
        """``probe_then_insert`` one arrival."""
        now = self.clock.see([arrival])
        self.expire(now)
        new = self.admit(arrival)
        for one, other in self.matches([new], arrival.time):
            self.emit(one, other)
            one.match(arrival.time)
            other.match(arrival.time)
        self.shed(now)


Score = Callable[[Resident, float, Simulation], Any]
"""(resident, now, simulation) -> score, or a tuple; the lowest leaves first."""


def matches_of(
    newcomers: Sequence[Resident], buffers: tuple[list[Resident], list[Resident]]
) -> list[tuple[Resident, Resident]]:
    """Pair newcomers with the opposite buffers; two newcomers meet once."""
    found: dict[tuple[int, int], tuple[Resident, Resident]] = {}
    for one in newcomers:
        for other in buffers[1 - one.side]:
            if one.key == other.key:
                low, high = sorted((one.number, other.number))
                found.setdefault((low, high), (one, other))
    return list(found.values())


def simulate(
    instants: Sequence[Sequence[Arrival]], score: Score, rules: Rules
) -> Outcome:
    """Join the arrivals, instant after instant; each instant has one time."""
    simulation = Simulation(score, rules)
    buffers = []
    now = 0
    for instant in instants:
        ordered = sorted(instant, key=lambda arrival: arrival.side)
        simulation.gains.append(0.0)
        if ordered:
            (now,) = {arrival.time for arrival in ordered}
        if ordered and rules.order == "shed_then_join":
            simulation.batch(ordered, now)
        elif ordered and rules.order == "probe_then_shed":
            simulation.whole(ordered, now)
        elif ordered:
            for arrival in ordered:
                simulation.single(arrival)
        left, right = ([one.number for one in side] for side in simulation.buffers)
        buffers.append((tuple(left), tuple(right)))
    for buffer in simulation.buffers:
        for resident in buffer:
            window = simulation.window_of(resident.side)
            simulation.lifetimes[resident.number] = min(now + 1 - resident.time, window)
    return Outcome(
        simulation.pairs,
        sum(simulation.gains),
        simulation.gains,
        buffers,
        simulation.lifetimes,
        simulation.sheds,
        len(simulation.recomputed),
    )


def by_instant(arrivals: Iterable[Arrival]) -> list[list[Arrival]]:
    """Cut arrivals into instants, earlier ones first."""
    ordered = sorted(arrivals, key=lambda arrival: (arrival.time, arrival.side))
    return [list(some) for _, some in groupby(ordered, key=lambda one: one.time)]


def jain(lifetimes: Sequence[float]) -> float:
    """Jain's index of fairness: 1 if all are equal, 1/n if one has everything."""
    squares = sum(lifetime**2 for lifetime in lifetimes)
    return float(sum(lifetimes) ** 2 / (len(lifetimes) * squares))
