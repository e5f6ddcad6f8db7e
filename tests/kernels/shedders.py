"""A join that sheds by given scores: through the kernels, and as plain Python."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from shedjoin.kernels.instants import shed_then_join
from shedjoin.kernels.lookahead import insert_until
from shedjoin.kernels.round import (
    DONE,
    EVICTED,
    GROW,
    MET,
    NO_ROOM,
    OUTLIVED,
    PROBE,
    RECOMPUTE,
    REFUSED,
    RETAIN,
    STORED,
    Arriving,
    Found,
    Rules,
)
from shedjoin.kernels.rounds import probe_then_insert
from shedjoin.operators.budgeted.fill import NEVER_DUE, Filler, no_candidates
from shedjoin.operators.budgeted.lookahead import LookAhead
from shedjoin.operators.budgeted.table import SlotTable
from shedjoin.state.workspace import MemoryWorkspace

from .plain import PlainClock, make_found, plain_coin


@dataclass
class Row:
    """An arrival, and how many matches it has had."""

    number: int
    stream: int
    key: int
    time: int
    score: float
    size: int
    does: int
    matches: int = 0


@dataclass
class Outcome:
    """Matches as (arrival, resident), what happened to rows, and what left when.

    Arrivals of a sample are ``doubtful`` if they may have lost matches to the clock.
    """

    pairs: list[tuple[int, int]] = field(default_factory=list)
    tally: Counter[tuple[int, int]] = field(default_factory=Counter)
    life: float = 0.0
    residents: dict[int, int] = field(default_factory=dict)
    raised: dict[tuple[int, int], float] = field(default_factory=dict)
    doubtful: list[int] = field(default_factory=list)


class Plain:
    """Sheds and joins, with a list of residents."""

    def __init__(self, rules: Rules, first: int) -> None:
        self.rules, self.out = rules, Outcome()
        self.clock = PlainClock(len(rules.keep), rules.window, first)
        self.there: list[Row] = []
        self.slack, self.forgotten = 0, -math.inf

    @property
    def over_before(self) -> int:
        """Rows that expired before this time leave before all others."""
        return self.clock.reached - self.slack if self.slack else self.clock.now

    def note_lag(self, row: Row) -> None:
        """Have the slack of a sample cover an arrival that is behind the clock."""
        if row.time < self.forgotten:
            self.out.doubtful.append(row.number)
        step = self.rules.window // 16
        behind = max(0, self.over_before - row.time)
        self.slack += math.ceil(behind / step) * step

    def pool_of(self, row: Row) -> int:
        return 0 if self.rules.pooled else row.stream

    def victim(self, pool: int) -> tuple[Row, bool]:
        """Who leaves next, and whether its time is over."""
        rules, now = self.rules, self.clock.now
        some = [row for row in self.there if self.pool_of(row) == pool]
        before = self.over_before
        over = [row for row in some if row.time + rules.keep[row.stream] < before]
        if over:
            self.forgotten = max(self.forgotten, before)
            expiry = {row.number: row.time + rules.keep[row.stream] for row in over}
            return min(over, key=lambda row: (expiry[row.number], row.number)), True
        old = [
            row
            for row in some
            if rules.maturity < 0
            or not -rules.window <= now - row.time <= rules.maturity
        ]
        if not old:
            return max(some, key=lambda row: row.number), False
        return min(old, key=lambda row: (row.score, rules.tie * row.number)), False

    def shed(self, since: int, step: int) -> None:
        """Shed until all fits; rows from a number on count as refused."""
        for pool, capacity in enumerate(self.rules.capacity):
            while (
                sum(row.size for row in self.there if self.pool_of(row) == pool)
                > capacity
            ):
                row, over = self.victim(pool)
                self.there.remove(row)
                age = max(0, self.clock.now - row.time)
                why = OUTLIVED if over else EVICTED
                why = REFUSED if row.number >= since else why
                self.out.tally[why, row.stream] += 1
                if why == OUTLIVED:
                    age = min(age, self.rules.keep[row.stream])
                if why != REFUSED:
                    self.out.life += age * 1e-6
                if not over and self.rules.weighs:
                    highest = self.out.raised.get((pool, step), -math.inf)
                    self.out.raised[pool, step] = max(highest, row.score)

    def meet(self, row: Row) -> None:
        """Match an arrival with all that came before it and are there."""
        for other in self.there:
            early, late = sorted((row, other), key=lambda each: each.time)
            near = late.time - early.time <= self.rules.keep[early.stream]
            same = other.key == row.key and other.stream != row.stream
            if near and same and other.number < row.number:
                row.matches += 1
                other.matches += 1
                coin = plain_coin(11, row.key, other.number, ~row.number)
                self.out.tally[MET, row.stream] += self.rules.thins
                if not self.rules.thins or coin < 0.5:
                    self.out.pairs.append((row.number, other.number))

    def store(self, row: Row) -> None:
        if row.does & RETAIN:
            self.there.append(row)
            self.out.tally[STORED, row.stream] += 1

    def one_by_one(self, rows: list[Row]) -> Outcome:
        """Probe, insert, shed: one arrival after the other."""
        for row in rows:
            self.clock.see(row.time, row.stream)
            if self.rules.weighs:
                self.note_lag(row)
            if row.does & PROBE:
                self.meet(row)
            self.store(row)
            self.shed(row.number, row.number + 1)
        return self.done()

    def by_instant(self, rows: list[Row]) -> Outcome:
        """All arrivals of an instant enter, the lowest leave, the rest is joined."""
        for _, some in groupby(rows, key=lambda row: row.time):
            instant = list(some)
            for row in instant:
                self.clock.see(row.time, row.stream)
                self.store(row)
            self.shed(instant[0].number, instant[-1].number + 1)
            for row in instant:
                if row in self.there and row.does & PROBE:
                    self.meet(row)
        return self.done()

    def done(self) -> Outcome:
        self.out.residents = {row.number: row.matches for row in self.there}
        self.out.pairs.sort()
        return self.out


class Compiled:
    """Sheds and joins with the kernels; helps them as the operator does.

    Scores are due after so many sheds.
    """

    def __init__(
        self, rules: Rules, rows: list[Row], room: int, due: int = NEVER_DUE
    ) -> None:
        streams = len(rules.keep)
        self.rules, self.rows, self.due = rules, rows, due
        self.table = SlotTable(MemoryWorkspace(), streams, seed=5)
        self.table.start(rows[0].time, -(1 << 60), rules.window)
        self.table.facts["sheds_left"] = due
        self.candidates = no_candidates(streams)
        self.out = make_found(streams, room, rows=len(rows), weighs=1)
        self.filler = Filler(self.table, rules, 4, lags=self.out.lags)
        self.pairs: list[tuple[int, int]] = []
        self.stops: set[int] = set()

    def arriving(self) -> Arriving:
        stream, key, time, size, does = (
            np.array([getattr(row, name) for row in self.rows], np.int64)
            for name in ("stream", "key", "time", "size", "does")
        )
        rows = len(self.rows)
        return Arriving(
            first_number=0,
            stream=stream,
            key=key,
            time=time,
            expiry=time + np.array(self.rules.keep)[stream],
            importance=np.ones(rows),
            size=size,
            score=np.array([row.score for row in self.rows]),
            place=100 + np.arange(rows),
            does=does,
            chance=np.full(rows, 0.5),
            coins=np.zeros(rows, np.int64),
        )

    def help(self, why: int) -> None:
        self.stops.add(why)
        if why == GROW:
            self.table.grow()
            self.candidates = no_candidates(len(self.rules.keep))
        elif why == NO_ROOM:
            assert self.out.cursor[0]["found"], "one arrival has more than the room"
            self.take(self.out)
        else:
            if why == RECOMPUTE:
                self.table.facts["sheds_left"] = self.due
            self.candidates = self.filler.fill()

    def take(self, out: Found) -> None:
        found = out.matches[: int(out.cursor[0]["found"])]
        number = found["place"] - 100  # numbers are there only for a sample
        assert not self.rules.weighs or (found["number"] == number).all()
        self.pairs += zip(found["row"].tolist(), number.tolist(), strict=True)
        out.cursor[0]["found"] = 0

    def in_turn(self, *, probes_first: bool) -> Outcome:
        """Take one arrival after the other, or one instant."""
        kernel = probe_then_insert if probes_first else shed_then_join
        arriving, why = self.arriving(), GROW
        while why != DONE:
            table = self.table.table
            why = kernel(self.rules, arriving, table, self.candidates, self.out)
            if why != DONE:
                self.help(why)
        self.take(self.out)
        return self.done()

    def ahead(self, room: int) -> Outcome:
        """Look matches up before it is known who leaves."""
        arriving, out = self.arriving(), self.out
        ahead, rows = LookAhead(self.rules, room), len(self.rows)
        while out.cursor[0]["row"] < rows:
            start = int(out.cursor[0]["row"])
            out.cursor[0]["run_start"] = self.table.facts["next_number"]
            out = ahead.watch(out, self.table.size, rows)
            table, why = self.table.table, NO_ROOM
            end = ahead.look_up(start, arriving, table)
            while why not in {DONE, GROW}:
                args = end, self.rules, arriving, table, self.candidates, out
                why = insert_until(*args)
                if why not in {DONE, GROW}:
                    self.help(why)
            for found in ahead.matches(start, arriving, table, out):
                self.take(found)
            if why == GROW:
                self.help(why)
        return self.done()

    def done(self) -> Outcome:
        alive, out = self.table.alive(), self.out
        details, at = self.table.table.details[alive], self.table.numbers[alive]
        assert not details["foreseen"].any()
        raised = {
            (int(pool), int(step)): float(out.raised[pool, step])
            for pool, step in np.argwhere(out.raised > -np.inf)
        }
        tally = {
            (why, stream): int(out.tally[why, stream])
            for why in (REFUSED, EVICTED, OUTLIVED, STORED, MET)
            for stream in range(out.tally.shape[1])
            if out.tally[why, stream]
        }
        matches = details["matches"].astype(int).tolist()
        residents = dict(zip(at.tolist(), matches, strict=True))
        life = float(out.sums[0]["life"])
        doubtful = np.flatnonzero(out.doubtful).tolist()
        pairs = sorted(self.pairs)
        return Outcome(pairs, Counter(tally), life, residents, raised, doubtful)
