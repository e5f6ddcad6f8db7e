"""Rounds: arrivals in blocks, between which scores and models may change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shedjoin.kernels.lookahead import insert_until
from shedjoin.kernels.round import (
    ALL_SETTLED,
    CURSOR,
    DONE,
    GROW,
    MARK,
    MATCH,
    NO_ROOM,
    REASONS,
    RECOMPUTE,
    REFUSED,
    RETAIN,
    STORED,
    SUMS,
    VICTIM,
    Arriving,
    Found,
    Rules,
)
from shedjoin.kernels.rounds import INSTANT_ROWS, probe_then_insert, shed_then_join
from shedjoin.operators.budgeted import answers
from shedjoin.operators.budgeted.fill import (
    NEVER_DUE,
    NOTHING,
    Filler,
    no_candidates,
)
from shedjoin.operators.budgeted.gather import Pairs
from shedjoin.operators.budgeted.lookahead import LookAhead
from shedjoin.operators.budgeted.ordered import Ordered
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.budgeted.verbs import Verbs
from shedjoin.policies.base import SamplingPolicy
from shedjoin.sampling.weights import SelfCheck, weigh
from shedjoin.spec.recompute import Adaptive, Amortised
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.window import parse_duration
from shedjoin.types import BoolArray, Record, Records

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
    _watched: BoolArray

    def __init__(
        self, store: BudgetedStore, shedding: Shedding, *, probes: bool = True
    ) -> None:
        policy = shedding.policy
        self._store = store
        self._shedding = shedding
        self._policy = policy
        self._probes_first = shedding.discipline == "probe_then_insert"
        self._block_rows = min(
            max(store.capacity_rows, _SMALLEST_BLOCK), _LARGEST_BLOCK
        )
        self._rules = _rules(store, shedding)
        self._verbs = Verbs(
            policy, store.spec.keeps_us, shedding.coin_seed, probes=probes
        )
        self._filler = Filler(store.table, self._rules, self._block_rows)
        self._learns = "models" in policy.reads
        changes = policy.dynamic or self._learns
        self._steady = isinstance(shedding.recompute, Amortised) or not changes
        self._counts_matches = "matches" in policy.reads
        self._batches_probes = (
            self._probes_first and self._steady and not self._counts_matches
        )
        if self._rules.tosses and store.table.has_coins:
            self._batches_probes = False
        streams = len(store.spec.streams)
        self._candidates = no_candidates(streams)
        self.tally = np.zeros((REASONS, streams), np.int64)
        self._sums = np.zeros(1, SUMS)
        self._cursor = np.zeros(1, CURSOR)
        self._victims, self._left = np.empty(0, VICTIM), NOTHING
        self.recomputed = 0
        self.monitored = 0.0
        self.weight = 0.0
        self.check = SelfCheck()
        if not policy.dynamic:
            self._facts["sheds_left"] = NEVER_DUE
        elif self._facts["sheds_left"] > NEVER_DUE // 2:
            self._facts["sheds_left"] = 0
        self._room = ROOM_FOR

    def run(self, arrivals: Ordered) -> Iterator[Pairs]:
        """Go through a part; give matches as (arrival, place of the resident).

        Residents may have moved to other slots since the part before.
        """
        self._arrivals = arrivals
        self._verbs.models = self._store.models
        self._candidates = no_candidates(len(self._rules.keep))
        if np.isfinite(arrivals.importance).any():
            self._facts["valued"] = 1
        self._rules = self._rules._replace(valued=int(self._facts["valued"]))
        room = ROOM_FOR if self._batches_probes else 0
        self._lookahead = LookAhead(self._rules, room)
        done, total = 0, arrivals.key.size
        while done < total:
            end = self._block_end(done)
            gained = float(self.sums["gained"])
            yield from self._block(done, end)
            rows = slice(done, end)
            self._store.models.observe(
                self._arrivals.stream[rows],
                self._arrivals.key[rows],
                self._arrivals.time[rows],
                self._arrivals.importance[rows],
                clock_us=self._store.table.clock_us,
                watched=self._watched,
                learn=self._learns,
            )
            if self._rules.weighs:
                self._store.thresholds.advance(
                    int(self._cursor[0]["block_start"]),
                    self._raised,
                    self._store.table.oldest,
                )
            if isinstance(self._shedding.recompute, Adaptive):
                gained = float(self.sums["gained"]) - gained
                self._judge(self._shedding.recompute, done, gained)
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
            number = int(self._facts["next_number"])
            end = start + self._block_rows - number % self._block_rows
        else:
            end = start + 1
        if not self._probes_first and end < time.size:
            end = int(np.searchsorted(time, time[end - 1], side="right"))
        return min(end, time.size)

    def _block(self, start: int, end: int) -> Iterator[Pairs]:
        key = self._arrivals.key[start:end]
        stream = self._arrivals.stream[start:end]
        self._watched = self._store.models.make_room(stream, key)
        arriving = self._arriving(start, end)
        out = self._empty(end - start)
        if self._rules.tosses and arriving.coins.any():
            self._batches_probes = False  # how many matches a resident has had counts
        run = self._ahead if self._batches_probes else self._one_by_one
        for found in run(arriving, out):
            yield self._given(start, found)

    def _one_by_one(self, arriving: Arriving, out: Found) -> Iterator[Found]:
        kernel = probe_then_insert if self._probes_first else shed_then_join
        cursor = out.cursor[0]
        while True:
            table, out = self._store.table.table, self._leaving_room(out)
            why = kernel(self._rules, arriving, table, self._candidates, out)
            if why == DONE:
                break
            if why == NO_ROOM:
                if cursor["found"]:
                    yield out
                    cursor["found"] = 0
                else:
                    self._room *= 2
                    out = out._replace(
                        matches=self._matches_room(), marks=self._marks_room()
                    )
            else:
                self._help(why)
        if cursor["found"]:
            yield out

    def _ahead(self, arriving: Arriving, out: Found) -> Iterator[Found]:
        """Look matches up first, decide who leaves when, keep those that were there."""
        rules, rows, cursor = self._rules, arriving.key.size, out.cursor[0]
        while cursor["row"] < rows:
            table, start = self._store.table.table, int(cursor["row"])
            cursor["run_start"] = self._facts["next_number"]
            out = self._leaving_room(out)
            out = self._lookahead.watch(out, self._store.table.size, rows)
            end = self._lookahead.look_up(start, arriving, table)
            while True:
                why = insert_until(end, rules, arriving, table, self._candidates, out)
                if why in (DONE, GROW):
                    break
                self._help(why)
            yield from self._lookahead.matches(start, arriving, table, out)
            if why == GROW:
                self._help(why)

    def _help(self, why: int) -> None:
        """Do what a kernel stopped for."""
        if why == GROW:
            self._store.table.grow()
            self._candidates = no_candidates(len(self._rules.keep))
        else:
            self._fill(due=why == RECOMPUTE)

    def _arriving(self, start: int, end: int) -> Arriving:
        time, stream = self._arrivals.time[start], self._arrivals.stream[start]
        clock = self._store.table.clock_with(int(time), int(stream))
        number = int(self._facts["next_number"])
        arriving = self._verbs.arriving(self._arrivals, start, end, number, clock)
        self._refuse_too_large(arriving)
        return arriving

    def _refuse_too_large(self, arriving: Arriving) -> None:
        """Turn rows away that have no room in an empty pool: others would go for them.

        They count as stored and refused, as all that leave at once.
        """
        capacity, pooled = self._rules.capacity, self._rules.pooled
        if arriving.size.max() <= (capacity[0] if pooled else min(capacity)):
            return
        room = np.array(capacity)[arriving.stream * (not pooled)]
        large = (arriving.size > room) & (arriving.does & RETAIN > 0)
        arriving.does[large] &= ~RETAIN
        count = np.bincount(arriving.stream[large], minlength=len(capacity))
        self.tally[[STORED, REFUSED]] += count

    def _fill(self, *, due: bool) -> None:
        table = self._store.table
        if due:
            alive = table.alive()
            residents = table.residents(
                alive,
                self._store.spec.keeps_us,
                self._rules.decay if self._counts_matches else None,
            )
            table.rescore(alive, self._verbs.scores(residents))
            self.recomputed += 1
            self._facts["sheds_left"] = self._shedding.recompute.sheds(alive.size)
        self._candidates = self._filler.fill()

    def _judge(self, scheme: Adaptive, start: int, gained: float) -> None:
        """Make scores due if the last instants brought less than those before."""
        unit = parse_duration(scheme.instant)
        instant = int(self._arrivals.time[start]) // unit
        if self._store.note_gain(instant, gained, scheme):
            self._facts["sheds_left"] = 0

    @property
    def _facts(self) -> Record:
        return self._store.table.facts

    @property
    def sums(self) -> Record:
        """Sums over what was found, by the names of ``SUMS``."""
        return self._sums[0]

    @property
    def unwanted(self) -> tuple[int, int]:
        """Arrivals that were not admitted, and those that were but not retained."""
        return self._verbs.unadmitted, self._verbs.unretained

    def _empty(self, rows: int) -> Found:
        self._cursor[:] = 0
        self._cursor[0]["block_start"] = self._facts["next_number"]
        self._cursor[0]["settled"] = ALL_SETTLED
        steps = (rows + 1) * self._rules.weighs
        self._raised = np.full((len(self._rules.capacity), steps), -np.inf)
        return Found(
            matches=self._matches_room(),
            marks=self._marks_room(),
            cursor=self._cursor,
            tally=self.tally,
            sums=self._sums,
            instant_slots=np.zeros(INSTANT_ROWS, np.int64),
            victims=self._victims,
            left=self._left,
            slot_by_row=NOTHING,
            evicted_by_slot=NOTHING,
            evicted_by_row=NOTHING,
            raised=self._raised,
        )

    def _leaving_room(self, out: Found) -> Found:
        """Have room for all who may leave at once: residents and arrivals of a block."""
        most = self._store.table.size + self._arrivals.key.size
        if self._left.size < most:
            self._victims, self._left = np.empty(most, VICTIM), np.empty(most, np.int64)
        return out._replace(victims=self._victims, left=self._left)

    def _marks_room(self) -> Records:
        return np.empty(self._room * self._rules.weighs, MARK)

    def _matches_room(self) -> Records:
        return np.empty(self._room, MATCH)

    def _given(self, start: int, out: Found) -> Pairs:
        """Matches found since the last time; those of monitored keys are counted."""
        count = int(out.cursor[0]["found"])
        found = out.matches[:count]
        # Copies: the kernels use this room again before the matches are gathered.
        row, place = found["row"].copy(), found["place"].copy()
        monitored = self._watched[row]
        share = self._store.models.slice.share
        self.monitored += int(np.count_nonzero(monitored)) / share
        if not isinstance(self._policy, SamplingPolicy):
            return Pairs(row + start, place, None)
        number, key = found["number"].copy(), self._arrivals.key[row + start]
        zero, pool = int(out.cursor[0]["block_start"]), np.zeros(count, np.int64)
        if not self._store.pooled:
            pool = self._store.stream_at(place, self._arrivals)
        bar = self._store.thresholds.bars(zero, out.raised, row, number, pool)
        score, chance = (out.marks[name][:count].copy() for name in MARK.names or ())
        given = self._policy.inclusion(score, bar, key, number)
        # What has happened had a chance; its weight is one over it.
        stayed = answers.chances(self._policy, "inclusion", given, count, least=_LEAST)
        sampled = weigh(self._store.shard, stayed, zero + row, number, chance)
        self.weight += float(sampled.weight.sum())
        self.check.add(sampled.those(monitored))
        return Pairs(row + start, place, sampled)


def _rules(store: BudgetedStore, shedding: Shedding) -> Rules:
    policy, pace = shedding.policy, answers.pace(shedding.policy)
    sample = policy if isinstance(policy, SamplingPolicy) else None
    return Rules(
        keep=store.spec.keeps_us,
        capacity=store.capacity,
        pooled=int(store.pooled),
        tie=shedding.tie,
        maturity=pace.maturity_us,
        decay=pace.match_decay,
        counts_instant_first=int(pace.counts_instant_first),
        combine=shedding.combine_code,
        valued=0,
        thins=int(sample is not None and sample.thins),
        tosses=int(sample is not None and sample.tosses),
        weighs=int(sample is not None),
        seed=shedding.coin_seed,
        window=store.spec.window_us,
    )
