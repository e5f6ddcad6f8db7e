"""Scores of the shedding policies, and what the memory-limited papers say of them.

The lowest score leaves first; equal scores by the rules' ties.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Literal

from .shedding import Arrival, Resident, Score, Simulation

Recompute = Callable[[int, Simulation], bool]
"""(pool, simulation) -> whether priorities are computed anew for this victim."""

IMMATURE = 1e12
"""Above any priority; small enough for arrival numbers to count beside it."""


# ------------------------------------------------------------------------ plain ones


def fifo(resident: Resident, now: float, simulation: Simulation) -> float:
    """First in, first out."""
    return resident.number


def recent(resident: Resident, now: float, simulation: Simulation) -> float:
    """Keep the youngest."""
    return -resident.age(now)


def until_expiry(resident: Resident, now: float, simulation: Simulation) -> float:
    """Keep what is there until it expires: the newest leaves."""
    return -resident.number


def greedy(resident: Resident, now: float, simulation: Simulation) -> float:
    """Keep the important; ties are to be broken newest first."""
    return resident.importance


def rand(seed: int) -> Score:
    """Any resident, each as likely as the others."""
    coins = random.Random(seed)
    return lambda _resident, _now, _simulation: coins.random()


def scripted(kept: Mapping[int, frozenset[int]]) -> Score:
    """Keep, at each time, the arrival numbers that a script names."""
    return lambda resident, now, _simulation: float(resident.number in kept[int(now)])


# ------------------------------------------------------------------ by frequency, age


def prob(frequencies: Sequence[Mapping[int, float]]) -> Score:
    """Keep keys that are frequent on the other side; true frequencies per side."""
    return lambda resident, _now, _simulation: frequencies[1 - resident.side].get(
        resident.key, 0.0
    )


def observed(resident: Resident, now: float, simulation: Simulation) -> float:
    """Keep keys that were frequent on the other side, this instant included."""
    return simulation.seen[1 - resident.side][resident.key]


def size(resident: Resident, now: float, simulation: Simulation) -> float:
    """Matches so far, and those of this instant before shedding; ties oldest.

    Those of this instant are the equal keys in the opposite buffer of which one side
    is a newcomer: two that met before are counted once. For the plain reading; with
    look-ahead the matches already hold this instant's.
    """
    fresh = sum(
        other.key == resident.key and now in (other.time, resident.time)
        for other in simulation.present[1 - resident.side]
    )
    return resident.matches + fresh


def cumulated(p: Sequence[Fraction | int]) -> list[Fraction]:
    """C(0) = 0, C(1), ..: results of a tuple by each age."""
    total = [Fraction(0)]
    for results in p:
        total.append(total[-1] + results)
    return total


def age_priorities(p: Sequence[Fraction | int]) -> list[Fraction]:
    """Priority(i) = max over i < j <= W of (C(j) - C(i)) / (j - i), for i < W."""
    c = cumulated(p)
    ages = range(len(c))
    return [max((c[j] - c[i]) / (j - i) for j in ages[i + 1 :]) for i in ages[:-1]]


def age(p: Sequence[Fraction | int]) -> Score:
    """Keep what can give results fastest; what can give none any more leaves first."""
    priorities = [float(priority) for priority in age_priorities(p)]

    def score(resident: Resident, now: float, _simulation: Simulation) -> float:
        old = resident.age(now)
        return priorities[int(old)] if old < len(priorities) else -math.inf

    return score


def best_age(p: Sequence[Fraction | int]) -> int:
    """k_opt, the smallest k at which C(k) / k is largest."""
    c = cumulated(p)
    return max(range(1, len(c)), key=lambda k: (c[k] / k, -k))


def age_rate(p: Sequence[Fraction | int], memory: int, rate: int = 1) -> Fraction:
    """Results per unit of time by equations 2 and 3; C is linear between ages."""
    c = cumulated(p)
    best = best_age(p)
    if Fraction(memory, rate) <= best:
        return memory * c[best] / best
    whole, part = divmod(memory, rate)
    if whole >= len(p):
        return rate * c[-1]
    return rate * (c[whole] + (c[whole + 1] - c[whole]) * Fraction(part, rate))


# ----------------------------------------------------------------------------- iJoin


def successive(pool: int, simulation: Simulation) -> bool:
    """Compute priorities anew for every victim."""
    return True


def every(k: int) -> Recompute:
    """Compute priorities anew for a pool's first victim and each k-th after it."""
    return lambda pool, simulation: simulation.sheds[pool] % k == 0


def adaptive(eps: float, span: int = 5, *, strict: bool = False) -> Recompute:
    """Compute priorities anew when a span gained at most (1 - eps) of the one before.

    Spans are of instants; the newer one ends just before the present. Not strict, two
    spans without any gain count as a drop.
    """

    def is_worse(pool: int, simulation: Simulation) -> bool:
        past = simulation.gains[:-1]
        gained, bound = sum(past[-span:]), (1 - eps) * sum(past[-2 * span : -span])
        return gained < bound or (gained == bound and not strict)

    return is_worse


def residence_priority(
    resident: Resident, now: float, delta: int, c: float, d: float | None
) -> float:
    """Importance x matches / age, less c x idle time once that reaches Delta.

    Matches decay by d per unit of time unless it is None. The importance at age 0.
    """
    old = resident.age(now)
    if old == 0:
        return resident.importance
    matches = resident.matches if d is None else resident.decayed_matches(now, d)
    idle = max(0, now - resident.last_match)
    penalty = c * idle if idle >= delta else 0.0
    return resident.importance * matches / old - penalty


def ijoin(
    tau: int,
    delta: int,
    c: float,
    d: float | None = None,
    *,
    recompute: Recompute = successive,
    fallback: Literal["newest", "oldest", "lowest"] = "newest",
) -> Score:
    """Lowest residence priority of those older than tau; ties oldest.

    The fallback says who leaves when nobody is that old. Where a victim has no
    priorities computed anew, the last ones count: importance for those without.
    """

    def score(resident: Resident, now: float, simulation: Simulation) -> float:
        pool = simulation.pool_of(resident.side)
        if recompute(pool, simulation):
            simulation.recomputed.add((pool, simulation.sheds[pool]))
            resident.stored = residence_priority(resident, now, delta, c, d)
        if resident.age(now) > tau:
            return resident.stored
        match fallback:
            case "newest":
                return IMMATURE - resident.number
            case "oldest":
                return IMMATURE + resident.number
            case "lowest":
                return IMMATURE + resident.stored

    return score


# ---------------------------------------------------------------------- in hindsight


def offline_optimum(
    instants: Sequence[Sequence[Arrival]],
    capacity: tuple[int, int],
    window: int,
    *,
    by: Literal["importance", "size"],
) -> tuple[float, dict[int, frozenset[int]]]:
    """Best total of ``shed_then_join``, age < window, and a script of who to keep.

    Tries every way to fill the memory at each instant.
    """
    rows = [row for one in instants for row in sorted(one, key=lambda row: row.side)]
    times = [instant[0].time for instant in instants]

    def ways(held: frozenset[int], now: float, side: int) -> list[tuple[int, ...]]:
        here = held | {n for n, row in enumerate(rows) if row.time == now}
        alive = [n for n in sorted(here) if now - rows[n].time < window]
        mine = [n for n in alive if rows[n].side == side]
        return list(combinations(mine, min(capacity[side], len(mine))))

    def gain(one: Arrival, other: Arrival, now: float) -> float:
        if one.key != other.key or now not in (one.time, other.time):
            return 0.0
        return min(one.importance, other.importance) if by == "importance" else 1.0

    @cache
    def best(step: int, held: frozenset[int]) -> tuple[float, list[frozenset[int]]]:
        if step == len(times):
            return 0.0, []
        now = times[step]
        options = []
        for left in ways(held, now, 0):
            for right in ways(held, now, 1):
                kept = frozenset(left + right)
                gained = sum(gain(rows[i], rows[j], now) for i in left for j in right)
                later, script = best(step + 1, kept)
                options.append((gained + later, [kept, *script]))
        return max(options, key=lambda option: option[0])

    total, script = best(0, frozenset())
    return total, dict(zip(times, script, strict=True))


def dimpprob(
    resident: Resident, now: float, simulation: Simulation
) -> tuple[float, float, int]:
    """Importance times partners; ties by importance, then partners.

    Partners are those of the instant before anything is shed.
    """
    del now
    partners = sum(
        other.key == resident.key
        and -simulation.window_of(1 - resident.side)
        <= other.time - resident.time
        <= simulation.window_of(resident.side)
        for other in simulation.present[1 - resident.side]
    )
    return resident.importance * partners, resident.importance, partners
