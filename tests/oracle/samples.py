"""Samples of a join in too little memory, slow and obvious.

One arrival after the other: the expired leave, the arrival meets the residents of the
other side, becomes one itself, and while there are too many the lowest score leaves. A
score is a size over a lot. A resident remembers the highest score that has left its
pool since it came: from it follows the weight of its results.

With coins, a row has so many of them, counted down from match to match; a match is
emitted if its coin wins. The row is not stored if no coin wins, and leaves after the
last one that does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .clock import Clock
from .shedding import Arrival

PerRow = Callable[[int, int], float]
"""(key, number of the row) -> its size, or its lot."""

Coin = Callable[[int, int, int], float]
"""(key, number of the row, turn) -> a coin in [0, 1)."""


class Draw(NamedTuple):
    """How a sample is drawn.

    Attributes
    ----------
    size, lot
        Of a row.
    coins, chance, toss
        Coins of every row, 0 for none; a coin below ``chance`` wins.
    """

    size: PerRow
    lot: PerRow
    coins: int = 0
    chance: float = 1.0
    toss: Coin | None = None

    def winners(self, key: int, number: int) -> list[int]:
        """Turns at which the coin of a row wins; they count down."""
        if self.toss is None:
            return []
        turns = range(self.coins, 0, -1)
        return [turn for turn in turns if self.toss(key, number, turn) < self.chance]


class Result(NamedTuple):
    """A result: numbers of its rows and of the one that was waiting, its weight."""

    left: int
    right: int
    owner: int
    weight: float


@dataclass(eq=False, slots=True)
class _Waiting:
    number: int
    row: Arrival
    size: float
    score: float
    winners: list[int]
    turn: int
    bar: float = -math.inf


class Sampled(NamedTuple):
    """Results, and the most residents that there ever were."""

    results: list[Result]
    most: int


def sampled_join(
    arrivals: Sequence[Arrival],
    draw: Draw,
    capacity: int | tuple[int, int],
    window: int,
    watermarks: Sequence[float] | None = None,
) -> Sampled:
    """Join arrivals in their order; an age equal to the window still matches.

    The clock runs ahead of the slower stream by little (see ``Clock``); both have
    reached the watermark that was in force at an arrival, if it is told.
    """
    there: list[_Waiting] = []
    results: list[Result] = []
    most = 0
    clock = Clock(window)
    for number, row in enumerate(arrivals):
        now = clock.see([row], watermarks[number] if watermarks else -math.inf)
        there = [one for one in there if now - one.row.time <= window]
        for one in list(there):
            near = row.time - one.row.time <= window
            if near and one.row.side != row.side and one.row.key == row.key:
                results += _meet(one, number, row, draw, there)
        winners = draw.winners(row.key, number)
        if draw.coins == 0 or winners:
            size = draw.size(row.key, number)
            score = size / draw.lot(row.key, number)
            there.append(_Waiting(number, row, size, score, winners, draw.coins))
        _shed(there, capacity)
        most = max(most, len(there))
    return Sampled(results, most)


def _meet(
    one: _Waiting, number: int, row: Arrival, draw: Draw, there: list[_Waiting]
) -> list[Result]:
    emitted = draw.coins == 0 or one.turn in one.winners
    if draw.coins and one.turn == min(one.winners):
        there.remove(one)
    one.turn -= 1
    weight = max(1.0, one.bar / one.size) / draw.chance
    left, right = (one.number, number) if row.side == 1 else (number, one.number)
    return [Result(left, right, one.number, weight)] if emitted else []


def _shed(there: list[_Waiting], capacity: int | tuple[int, int]) -> None:
    pools: list[tuple[set[int], int]]
    if isinstance(capacity, tuple):
        pools = [({0}, capacity[0]), ({1}, capacity[1])]
    else:
        pools = [({0, 1}, capacity)]
    for sides, room in pools:
        while len(mine := [one for one in there if one.row.side in sides]) > room:
            victim = min(mine, key=lambda one: (one.score, one.number))
            there.remove(victim)
            for one in mine:
                one.bar = max(one.bar, victim.score)
