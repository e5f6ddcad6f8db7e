"""Rounds: arrivals in blocks, between which scores and models may change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shedjoin.kernels.lookahead import insert_until
from shedjoin.kernels.rounds import probe_then_insert, shed_then_join
from shedjoin.kernels.slots import CLOCK, NEXT_NUMBER, SEED, SHEDS, VALUED
from shedjoin.kernels.stages import (
    CURSOR,
    DONE,
    FIRST,
    FOUND,
    GAINED,
    GROUP_ROWS,
    GROW,
    RECOMPUTE,
    ROOM,
    STATE,
    ZERO,
    Arriving,
    Found,
    Rules,
)
from shedjoin.operators.budgeted import answers
from shedjoin.operators.budgeted.fill import NEVER_DUE, NOTHING, Filler, no_victims
from shedjoin.operators.budgeted.gather import Pairs
from shedjoin.operators.budgeted.lookahead import LookAhead
from shedjoin.operators.budgeted.ordered import Ordered
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.budgeted.verbs import Verbs
from shedjoin.policies.base import overrides
from shedjoin.sampling.weights import SelfCheck, weigh
from shedjoin.spec.recompute import Adaptive, Amortised
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.window import parse_duration
from shedjoin.types import FloatArray, IntArray

ROOM_FOR = 1 << 17
_SMALLEST_BLOCK, _LARGEST_BLOCK = 1 << 8, 1 << 14
_LEAST = float(np.finfo(np.float64).tiny)


class Rounds:
    """Takes the arrivals of one micro-batch through the table, part by part.

    Parameters
    ----------
    store : BudgetedStore
        The residents.
    shedding : Shedding
        Policy and order.
    probes : bool
        Whether arrivals meet residents.
    """

    _arrivals: Ordered

    def __init__(
        self, store: BudgetedStore, shedding: Shedding, *, probes: bool = True
    ) -> None:
        policy = shedding.policy
        self._store = store
        self._shedding = shedding
        self._policy = policy
        self._scalars = store.table.scalars
        self._first = shedding.discipline == "probe_then_insert"
        self._block_rows = min(
            max(store.capacity_rows, _SMALLEST_BLOCK), _LARGEST_BLOCK
        )
        self._rules = _rules(store, shedding)
        self._verbs = Verbs(
            policy, store.spec.keeps_us, shedding.coin_seed, probes=probes
        )
        self._filler = Filler(store.table, self._rules, self._block_rows)
        self._learns = policy.dynamic or policy.learns
        self._steady = isinstance(shedding.recompute, Amortised) or not self._learns
        self._looks = self._first and self._steady and not policy.counts_matches
        if self._rules.tosses and store.table.has_coins:
            self._looks = False
        self._victims = no_victims()
        self.sums = np.zeros(4)
        self._state = np.zeros(STATE, np.int64)
        self.recomputed = 0
        self.monitored = 0.0
        self.weight = 0.0
        self.check = SelfCheck()
        if not policy.dynamic:
            self._scalars[SHEDS] = NEVER_DUE
        elif self._scalars[SHEDS] > NEVER_DUE // 2:
            self._scalars[SHEDS] = 0
        self._room = ROOM_FOR

    def run(self, arrivals: Ordered) -> Iterator[Pairs]:
        """Go through a part; give matches as (arrival, place of the resident).

        Residents may have moved to other slots since the part before.
        """
        self._arrivals = arrivals
        self._scalars = self._store.table.scalars
        self._verbs.models = self._store.models
        self._victims = no_victims()
        if np.isfinite(arrivals.importance).any():
            self._scalars[VALUED] = 1
        self._rules = self._rules._replace(valued=int(self._scalars[VALUED]))
        self._look = LookAhead(self._rules, ROOM_FOR if self._looks else 0)
        done, total = 0, arrivals.key.size
        while done < total:
            end = self._block_end(done)
            gained = self.sums[GAINED]
            yield from self._block(done, end)
            rows = slice(done, end)
            self._store.models.observe(
                self._arrivals.stream[rows],
                self._arrivals.key[rows],
                self._arrivals.time[rows],
                self._arrivals.importance[rows],
                clock_us=int(self._scalars[CLOCK]),
                learn=self._learns,
            )
            if self._rules.weighs:
                self._store.thresholds.advance(
                    int(self._state[ZERO]), self._raised, self._store.table.oldest
                )
            if isinstance(self._shedding.recompute, Adaptive):
                self._judge(self._shedding.recompute, done, self.sums[GAINED] - gained)
            done = end

    def _block_end(self, start: int) -> int:
        """Where a block ends: at a whole number of arrivals, or an instant's end."""
        time = self._arrivals.time
        scheme = self._shedding.recompute
        if isinstance(scheme, Adaptive):
            unit = parse_duration(scheme.instant)
            return start + int(
                np.searchsorted(time[start:], (time[start] // unit + 1) * unit)
            )
        if self._steady:
            number = int(self._scalars[NEXT_NUMBER])
            end = start + self._block_rows - number % self._block_rows
        else:
            end = start + 1
        if not self._first and end < time.size:
            end = int(np.searchsorted(time, time[end - 1], side="right"))
        return min(end, time.size)

    def _block(self, start: int, end: int) -> Iterator[Pairs]:
        key = self._arrivals.key[start:end]
        self._store.models.make_room(self._arrivals.stream[start:end], key)
        arriving = self._arriving(start, end)
        out = self._empty(end - start)
        if self._rules.tosses and arriving.coins.any():
            self._looks = False  # how many matches a resident has had counts
        run = self._ahead if self._looks else self._one_by_one
        for found in run(arriving, out):
            yield self._given(start, found)

    def _one_by_one(self, arriving: Arriving, out: Found) -> Iterator[Found]:
        kernel = probe_then_insert if self._first else shed_then_join
        while True:
            table = self._store.table.table
            why = kernel(self._rules, arriving, table, self._victims, out)
            if why == DONE:
                break
            if why == ROOM:
                if out.state[FOUND]:
                    yield out
                    out.state[FOUND] = 0
                else:
                    self._room *= 2
                    out = out._replace(
                        pairs=self._pairs_room(), marks=self._marks_room()
                    )
            else:
                self._help(why)
        if out.state[FOUND]:
            yield out

    def _ahead(self, arriving: Arriving, out: Found) -> Iterator[Found]:
        """Look matches up first, decide who leaves when, keep those that were there."""
        rules, rows = self._rules, arriving.key.size
        while out.state[CURSOR] < rows:
            table, start = self._store.table.table, int(out.state[CURSOR])
            out.state[FIRST] = self._scalars[NEXT_NUMBER]
            out = self._look.watch(out, self._store.table.size, rows)
            end = self._look.look_up(start, arriving, table)
            while True:
                why = insert_until(end, rules, arriving, table, self._victims, out)
                if why in (DONE, GROW):
                    break
                self._help(why)
            yield from self._look.matches(start, arriving, table.words, out)
            if why == GROW:
                self._help(why)

    def _help(self, why: int) -> None:
        """Do what a kernel stopped for."""
        if why == GROW:
            self._store.table.grow()
            self._victims = no_victims()
            self._scalars = self._store.table.scalars
        else:
            self._fill(due=why == RECOMPUTE)

    def _arriving(self, start: int, end: int) -> Arriving:
        time, side = self._arrivals.time[start], self._arrivals.stream[start]
        clock = self._store.table.clock_with(int(time), int(side))
        number = int(self._scalars[NEXT_NUMBER])
        return self._verbs.arriving(self._arrivals, start, end, number, clock)

    def _fill(self, *, due: bool) -> None:
        table = self._store.table
        if due:
            alive = table.alive()
            counts = self._policy.counts_matches
            residents = table.residents(
                alive,
                self._store.spec.keeps_us,
                self._rules.decay if counts else None,
            )
            table.table.score[alive] = self._verbs.scores(residents)
            table.touch(alive)
            self.recomputed += 1
            self._scalars[SHEDS] = self._shedding.recompute.sheds(alive.size)
        pools = 1 if self._store.pooled else 2
        self._victims = self._filler.fill(pools)

    def _judge(self, scheme: Adaptive, start: int, gained: float) -> None:
        """Make scores due if the last instants brought less than those before."""
        unit = parse_duration(scheme.instant)
        instant = int(self._arrivals.time[start]) // unit
        if self._store.note_gain(instant, gained, scheme):
            self._scalars[SHEDS] = 0

    @property
    def unwanted(self) -> tuple[int, int]:
        """Arrivals that were not admitted, and those that were but not retained."""
        return self._verbs.unadmitted, self._verbs.unretained

    @property
    def tally(self) -> IntArray:
        """Counts by the names of the kernels."""
        return self._state[:CURSOR]

    def _empty(self, rows: int) -> Found:
        self._state[CURSOR:] = 0
        self._state[ZERO] = self._scalars[NEXT_NUMBER]
        self._raised = np.full(2 * (rows + 1) * self._rules.weighs, -np.inf)
        return Found(
            pairs=self._pairs_room(),
            state=self._state,
            sums=self.sums,
            group=np.zeros(GROUP_ROWS, np.int64),
            left=NOTHING,
            gone=NOTHING,
            marks=self._marks_room(),
            raised=self._raised,
        )

    def _marks_room(self) -> FloatArray:
        return np.empty(2 * self._room * self._rules.weighs)

    def _pairs_room(self) -> IntArray:
        return np.empty(3 * self._room, np.int64)

    def _given(self, start: int, out: Found) -> Pairs:
        """Matches found since the last time; those of monitored keys are counted."""
        count = int(out.state[FOUND])
        found = out.pairs[: 3 * count].reshape(-1, 3)
        # Copies: the kernels use this room again before the matches are gathered.
        row, place, number = (found[:, n].copy() for n in range(3))
        key = self._arrivals.key[row + start]
        monitored = self._store.models.slice.monitored(key)
        share = self._store.models.slice.share
        self.monitored += float(monitored.sum()) / share
        if not self._rules.weighs:
            return Pairs(row + start, place, None)
        zero, pool = int(out.state[ZERO]), np.zeros(count, np.int64)
        if not self._store.pooled:
            pool = 1 - self._arrivals.stream[row + start]
        bar = self._store.thresholds.bars(zero, out.raised, row, number, pool)
        marks = out.marks[: 2 * count]
        score, chance = marks[0::2], marks[1::2]
        given = self._policy.inclusion(score, bar, key, number)
        # What has happened had a chance; its weight is one over it.
        stayed = answers.chances(self._policy, "inclusion", given, count, least=_LEAST)
        sampled = weigh(self._store.shard, stayed, zero + row, number, chance)
        self.weight += float(sampled.weight.sum())
        self.check.add(sampled.those(monitored))
        return Pairs(row + start, place, sampled)


def _rules(store: BudgetedStore, shedding: Shedding) -> Rules:
    policy = shedding.policy
    return Rules(
        keep=store.spec.keeps_us,
        capacity=store.capacity,
        pooled=int(store.pooled),
        tie=1 if policy.ties == "oldest" else -1,
        maturity=policy.maturity_us,
        decay=policy.match_decay,
        foresee=int(policy.foresees),
        combine=shedding.combine_code,
        valued=0,
        thins=int(overrides(policy, "thin")),
        tosses=int(overrides(policy, "coins")),
        weighs=int(policy.samples),
        seed=shedding.coin_seed,
        bucket_seed=int(store.table.scalars[SEED]),
        window=store.spec.window_us,
    )
