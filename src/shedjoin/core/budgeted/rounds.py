"""Rounds: arrivals in blocks, between which scores and models may change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shedjoin.core.budgeted.fill import NEVER_DUE, Filler, no_victims
from shedjoin.core.budgeted.ordered import Ordered
from shedjoin.core.budgeted.store import BudgetedStore
from shedjoin.core.policy import Policy, Residents
from shedjoin.core.recompute import Adaptive, Amortised
from shedjoin.core.shedding import Shedding
from shedjoin.core.window import parse_duration
from shedjoin.kernels.hashing import chain_words
from shedjoin.kernels.rounds import probe_then_insert, shed_then_join
from shedjoin.kernels.slots import CLOCK, NEXT_NUMBER, SHEDS
from shedjoin.kernels.stages import (
    ADMIT,
    CURSOR,
    DONE,
    FOUND,
    GAINED,
    GROUP_ROWS,
    GROW,
    PROBE,
    RECOMPUTE,
    RETAIN,
    ROOM,
    STATE,
    Arriving,
    Found,
    Rules,
)
from shedjoin.types import FloatArray, IntArray

PAIRS = 1 << 17
_SMALLEST_BLOCK, _LARGEST_BLOCK = 1 << 8, 1 << 14
Pairs = tuple[IntArray, IntArray]


class Rounds:
    """Takes the arrivals of one micro-batch through the table.

    Parameters
    ----------
    store : BudgetedStore
        The residents.
    arrivals : Ordered
        The arrivals.
    shedding : Shedding
        Policy and order.
    """

    def __init__(
        self, store: BudgetedStore, arrivals: Ordered, shedding: Shedding
    ) -> None:
        policy = shedding.policy
        self._store = store
        self._arrivals = arrivals
        self._shedding = shedding
        self._policy = policy
        self._first = shedding.discipline == "probe_then_insert"
        self._block_rows = min(
            max(store.capacity_rows, _SMALLEST_BLOCK), _LARGEST_BLOCK
        )
        tie = 1 if policy.ties == "oldest" else -1
        self._rules = Rules(
            keep=store.spec.keeps_us,
            capacity=store.capacity,
            pooled=int(store.pooled),
            tie=tie,
            maturity=policy.maturity_us,
            decay=policy.match_decay,
            foresee=int(policy.foresees),
            combine=shedding.combine_code,
            thins=int(type(policy).thin is not Policy.thin),
            seed=shedding.seed,
        )
        self._filler = Filler(
            store.table, store.spec.keeps_us, tie, policy.maturity_us, self._block_rows
        )
        self._victims = no_victims()
        self.sums = np.zeros(4)
        self._state = np.zeros(STATE, np.int64)
        self.recomputed = 0
        self.unadmitted = 0
        self.unretained = 0
        self.monitored = 0.0
        self._scalars = store.table.scalars
        if not policy.dynamic:
            self._scalars[SHEDS] = NEVER_DUE
        elif self._scalars[SHEDS] > NEVER_DUE // 2:
            self._scalars[SHEDS] = 0
        self._room = PAIRS

    def run(self) -> Iterator[Pairs]:
        """Go through all arrivals; give matches as (arrival, place of the resident)."""
        done, total = 0, self._arrivals.key.size
        while done < total:
            end = self._block_end(done)
            gained = self.sums[GAINED]
            yield from self._block(done, end)
            rows = slice(done, end)
            self._store.models.observe(
                self._arrivals.side[rows],
                self._arrivals.key[rows],
                self._arrivals.time[rows],
                self._arrivals.importance[rows],
                learn=self._policy.dynamic,
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
        if isinstance(scheme, Amortised) or not self._policy.dynamic:
            number = int(self._scalars[NEXT_NUMBER])
            end = start + self._block_rows - number % self._block_rows
        else:
            end = start + 1
        if not self._first and end < time.size:
            end = int(np.searchsorted(time, time[end - 1], side="right"))
        return min(end, time.size)

    def _block(self, start: int, end: int) -> Iterator[Pairs]:
        key = self._arrivals.key[start:end]
        self._store.models.make_room(self._arrivals.side[start:end], key)
        arriving = self._arriving(start, end)
        out = self._empty()
        kernel = probe_then_insert if self._first else shed_then_join
        while True:
            table = self._store.table.table
            why = kernel(self._rules, arriving, table, self._victims, out)
            if why == DONE:
                break
            if why == ROOM:
                if out.state[FOUND]:
                    yield self._given(start, out)
                    out.state[FOUND] = 0
                else:
                    self._room *= 2
                    out = out._replace(pairs=self._pairs_room())
            elif why == GROW:
                self._store.table.grow()
                self._victims = no_victims()
                self._scalars = self._store.table.scalars
            else:
                self._fill(due=why == RECOMPUTE)
        if out.state[FOUND]:
            yield self._given(start, out)

    def _arriving(self, start: int, end: int) -> Arriving:
        rows = self._arrivals
        part = slice(start, end)
        clock = max(int(self._scalars[CLOCK]), int(rows.time[start]))
        newcomers = Residents(
            side=rows.side[part],
            key=rows.key[part],
            time=rows.time[part],
            number=self._scalars[NEXT_NUMBER] + np.arange(end - start),
            importance=rows.importance[part],
            matches=np.zeros(end - start),
            last_match=rows.time[part],
            now_us=clock,
            keep_us=self._store.spec.keeps_us,
        )
        return Arriving(
            side=newcomers.side,
            key=newcomers.key,
            time=newcomers.time,
            importance=newcomers.importance,
            size=rows.size[part],
            score=self._scores(newcomers, first=True),
            place=-1 - np.arange(start, end),
            does=self._does(newcomers),
            chance=self._chance(newcomers),
        )

    def _does(self, newcomers: Residents) -> IntArray:
        policy, models = self._policy, self._store.models
        rows = newcomers.key.size
        admit = policy.admit(newcomers, models)
        probe = policy.probe(newcomers, models)
        chance = policy.retain(newcomers, models)
        does = np.full(rows, ADMIT | PROBE | RETAIN)
        if probe is not None:
            does[~probe] &= ~PROBE
        if chance is not None:
            does[self._coin(newcomers.number) >= chance] &= ~RETAIN
        if admit is not None:
            self.unadmitted += int((~admit).sum())
            does[~admit] = 0
        self.unretained += int(((does & (ADMIT | RETAIN)) == ADMIT).sum())
        return does

    def _chance(self, newcomers: Residents) -> FloatArray:
        chance = self._policy.thin(newcomers, self._store.models)
        return np.ones(newcomers.key.size) if chance is None else chance

    def _coin(self, number: IntArray) -> FloatArray:
        """A number between 0 and 1 for each arrival: the same whenever it is drawn."""
        seed = np.full(number.size, self._shedding.seed)
        return (chain_words(seed, number) >> 11 & ((1 << 53) - 1)) / float(1 << 53)

    def _scores(self, residents: Residents, *, first: bool = False) -> FloatArray:
        score = self._policy.first_score if first else self._policy.score
        found = np.asarray(score(residents, self._store.models), np.float64)
        return np.nan_to_num(found, nan=-np.inf, posinf=np.inf, neginf=-np.inf)

    def _fill(self, *, due: bool) -> None:
        table = self._store.table
        if due:
            alive = table.alive()
            keep, decay = self._store.spec.keeps_us, self._rules.decay
            residents = table.residents(alive, keep, decay)
            table.table.score[alive] = self._scores(residents)
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
    def tally(self) -> IntArray:
        """Counts by the names of the kernels."""
        return self._state[:CURSOR]

    def _empty(self) -> Found:
        self._state[CURSOR:] = 0
        return Found(
            pairs=self._pairs_room(),
            state=self._state,
            sums=self.sums,
            group=np.zeros(GROUP_ROWS, np.int64),
        )

    def _pairs_room(self) -> IntArray:
        return np.empty(2 * self._room, np.int64)

    def _given(self, start: int, out: Found) -> Pairs:
        """Matches found since the last time; those of monitored keys are counted."""
        found = out.pairs[: 2 * out.state[FOUND]].reshape(-1, 2)
        arrival, place = found[:, 0] + start, found[:, 1].copy()
        monitored = self._store.models.slice.monitored(self._arrivals.key[arrival])
        share = self._store.models.slice.share
        self.monitored += float(monitored.sum()) / share
        return arrival, place
