"""Joins arrivals in blocks; between two blocks, scores and models may change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shedjoin.kernels.instants import probe_then_shed, shed_then_join
from shedjoin.kernels.lookahead import insert_until
from shedjoin.kernels.peers import peers_of
from shedjoin.kernels.round import (
    DONE,
    EVICTED,
    GROW,
    NO_LOOKS,
    NO_ROOM,
    REFUSED,
    RETAIN,
    STORED,
    Arriving,
    Found,
)
from shedjoin.kernels.rounds import probe_then_insert
from shedjoin.models.meter import Results
from shedjoin.operators.budgeted.bundles import ROOM_FOR, Room, rules_of
from shedjoin.operators.budgeted.gather import Pairs
from shedjoin.operators.budgeted.lookahead import LookAhead
from shedjoin.operators.budgeted.matches import Matches
from shedjoin.operators.budgeted.miniature import InMiniature
from shedjoin.operators.budgeted.partners import Partners
from shedjoin.operators.budgeted.stops import Stops
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.budgeted.through import LOOKS, Counted
from shedjoin.operators.budgeted.verbs import Verbs
from shedjoin.operators.frame.ordered import Ordered
from shedjoin.operators.frame.sharing import Share
from shedjoin.spec.recompute import Adaptive, Amortised
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.window import parse_duration
from shedjoin.types import BoolArray, IntArray, Record

_SMALLEST_BLOCK, _LARGEST_BLOCK = 1 << 8, 1 << 14
_LEARNING_BLOCK = 1 << 9
_BLOCKS, _BLOCKS_IF_RENEWED = 8, 32
"""Approximate number of blocks in a window, if scores depend on models. Arrivals are
scored by the models as they were before their block. So blocks are smaller if frequent
keys change."""
_RENEWED = 1.0 / 16.0
"""Frequent keys count as changing if the keys that became frequent lately have more
than this part of the results."""


class _Block(NamedTuple):
    """Arrivals of a block, and how the models count them and their results.

    In ``arriving``, rows that are larger than their pool are marked as not to be
    stored. In ``came``, they are marked as the policy has decided.
    """

    start: int
    arriving: Arriving
    came: Arriving
    counted: Counted
    watched: BoolArray
    results: Results


class Rounds:
    """Joins and stores the arrivals of one micro-batch, part by part.

    Parameters
    ----------
    store : BudgetedStore
        The residents.
    shedding : Shedding
        Policy and discipline.
    probes : bool
        Whether arrivals look for matches.
    """

    def __init__(
        self, store: BudgetedStore, shedding: Shedding, *, probes: bool = True
    ) -> None:
        policy = shedding.policy
        self._store = store
        self._shedding = shedding
        self._probes_first = shedding.discipline == "probe_then_insert"
        self._block_rows = min(
            max(store.capacity_rows, _SMALLEST_BLOCK), _LARGEST_BLOCK
        )
        self._rules = rules_of(store, shedding)
        self._changes = policy.dynamic or "models" in policy.reads
        self._steady = isinstance(shedding.recompute, Amortised) or not self._changes
        counts_matches = "matches" in policy.reads
        self._looks_ahead = (
            self._probes_first and self._steady and not counts_matches
        ) and not (self._rules.tosses and store.table.has_coins)
        self._looks_ahead &= not store.through.relates
        self.verbs = Verbs(shedding, store.spec.keeps_us, probes=probes)
        self.stops = Stops(store, self._rules, self.verbs, self._block_rows)
        self.room = Room(self._rules, store.lags)
        self.matches = Matches(store)
        self._miniature = InMiniature(store, self.verbs)
        self.alone = np.zeros(len(store.spec.streams), np.int64)
        """Number of arrivals without a relation row, by stream, in a fixed relation."""
        self._partners: Partners | None = None
        if "partners" in policy.reads:
            self._partners = Partners(store, self._rules, self.verbs)

    def run(self, arrivals: Ordered) -> Iterator[Pairs]:
        """Join a part of the arrivals; yield its matches.

        Between two parts, residents may move to other slots. So the candidates of the
        part before are dropped first.
        """
        self._show_models()
        self.stops.forget()
        if np.isfinite(arrivals.importance).any():
            self._facts["valued"] = 1
        self._rules = self._rules._replace(valued=int(self._facts["valued"]))
        lookahead = LookAhead(self._rules, ROOM_FOR * self._looks_ahead)
        scheme, done = self._shedding.recompute, 0
        while done < arrivals.key.size:
            end = self._block_end(arrivals.time, done)
            gained = float(self.room.sums["gained"])
            self.verbs.load.pace(self._store)
            matched, since = 0, self._store.models.clock_us
            block = self._prepared(arrivals, done, end)
            for found in self._found(block, lookahead):
                pairs = self._counted_pairs(found, arrivals, block)
                matched += pairs.arrival.size
                yield pairs
            self._learn(block, since, matched)
            if isinstance(scheme, Adaptive):
                gained = float(self.room.sums["gained"]) - gained
                self._judge(scheme, int(arrivals.time[done]), gained)
            done = end

    def limit(self, share: Share) -> None:
        """Use this share of the budget from now on, and shed the surplus."""
        store = self._store
        store.other_shares = share.others
        if share.size != store.share:
            store.limit(share)
            store.limit_sample()
            self._rules = self._rules._replace(capacity=store.capacity)
            self.stops.limit(self._rules)
            self._show_models()
            self._miniature.limit()
        self.room.tally[EVICTED] += store.shed_surplus()

    def value_residents(self) -> None:
        """Score residents again if their importance has changed.

        This is not done for samples, which keep the scores drawn on arrival. It is also
        not done for policies that read partners, because these policies score all
        residents before every block.
        """
        policy = self._shedding.policy
        anyway = policy.samples or "partners" in policy.reads
        if self._store.revalued and not anyway:
            self._show_models()
            self.stops.recompute()
        self._store.revalued = False

    def _show_models(self) -> None:
        """Let the policy read the present models."""
        self.verbs.models = self._store.through.models(self._store.models)

    def _block_end(self, time: IntArray, start: int) -> int:
        """Index of the arrival at which a block ends.

        Whether a block ends at a multiple of its size, at the end of an instant, or
        after one arrival, depends on when scores are computed again.
        """
        scheme = self._shedding.recompute
        if isinstance(scheme, Adaptive):
            unit = parse_duration(scheme.instant)
            return start + int(
                np.searchsorted(time[start:], (time[start] // unit + 1) * unit)
            )
        if self._steady:
            number, rows = int(self._facts["next_number"]), self._rows_of_block()
            rows = min(rows, max(1, LOOKS // self._store.through.most))
            end = start + rows - number % rows
        else:
            end = start + 1
        if not self._probes_first and end < time.size:
            end = int(np.searchsorted(time, time[end - 1], side="right"))
        return min(end, time.size)

    def _rows_of_block(self) -> int:
        """Limit of the arrivals of a block.

        If scores depend on models, the limit is a fraction of the rows of a window.
        """
        if not self._changes:
            return self._block_rows
        models = self._store.models
        renewed = models.frequent.renewed > _RENEWED
        blocks = _BLOCKS_IF_RENEWED if renewed else _BLOCKS
        part = int(models.rows_in_window()) // blocks
        rows = 1 << max(part, _LEARNING_BLOCK).bit_length() - 1
        return min(rows, max(self._block_rows, _LEARNING_BLOCK))

    def _prepared(self, arrivals: Ordered, start: int, end: int) -> _Block:
        """Prepare a block: call the policy, and make room in the models."""
        number = int(self._facts["next_number"])
        through, rows, looks = self._store.through, slice(start, end), NO_LOOKS
        if through.relates:
            looks = through.looks(
                arrivals.stream[rows], arrivals.key[rows], arrivals.time[rows]
            )
        counted = Counted.of(arrivals, rows, looks)
        watched = self._store.models.make_room(*counted[:2])
        time, stream = int(arrivals.time[start]), int(arrivals.stream[start])
        clock = self._store.table.clock_with(time, stream)
        arriving = self.verbs.arriving(arrivals, start, end, number, clock)
        if through.relates:
            arriving = self._related(arriving._replace(looks=looks))
        if self._rules.all_probe:
            peers = peers_of(arriving.stream, arriving.key, arriving.time)
            arriving = arriving._replace(peers=peers)
        if self._partners is not None:
            arriving = self._partners.scored(arriving, clock)
            self.stops.recomputed += 1
            self.stops.forget()
        came = arriving._replace(does=arriving.does.copy())
        self._refuse_too_large(arriving)
        results = Results(*np.zeros((2, counted.key.size)))
        return _Block(start, arriving, came, counted, watched, results)

    def _found(self, block: _Block, lookahead: LookAhead) -> Iterator[Found]:
        """Join and store a block; yield matches whenever the match buffer is full."""
        arriving = block.arriving
        out = self.room.empty(arriving.key.size, arriving.first_number)
        if self._rules.tosses and arriving.coins.any():
            # Coins drop a resident after a certain match, so matches decide evictions.
            self._looks_ahead = False
        if self._looks_ahead:
            yield from self._ahead(arriving, out, lookahead)
        else:
            yield from self._one_by_one(arriving, out)
        if self._rules.weighs:
            oldest = self._store.table.oldest
            self._store.thresholds.advance(arriving.first_number, out.raised, oldest)

    def _learn(self, block: _Block, since: int, matched: int) -> None:
        """Count a block in the models; ``since`` is the clock from before the block.

        The miniature observes the block before the models count it. Otherwise, its rows
        would be scored by models that already know later matches.
        """
        models, clock = self._store.models, self._store.table.clock_us
        fade = models.frequency.faded(max(since, clock) - since)
        self._miniature.observe(block.came, fade)
        exact = models.meter.exact
        if block.counted.key.size:
            models.observe(
                *block.counted[:5],
                clock_us=clock,
                watched=block.watched,
                results=block.results,
            )
        exact = models.meter.exact - exact
        if self._store.kept_models.make_room():
            self._show_models()
        rows = block.arriving.key.size
        self.verbs.load.count(self._store, rows, matched, exact, fade)

    def _related(self, arriving: Arriving) -> Arriving:
        """Limit the expiry of arrivals to the time until which they are related.

        If the relation is fixed, an arrival without a relation row will never have one.
        So it cannot match and is not stored. It does not count as shed.
        """
        through, looks = self._store.through, arriving.looks
        if through.is_fixed:
            alone = looks.first[1:] == looks.first[:-1]
            arriving.does[alone] &= ~RETAIN
            streams = len(self._rules.keep)
            self.alone += np.bincount(arriving.stream[alone], minlength=streams)
        until = through.expiry(arriving.stream, arriving.key, arriving.time, looks)
        return arriving._replace(expiry=np.minimum(arriving.expiry, until))

    def _counted_pairs(self, found: Found, arrivals: Ordered, block: _Block) -> Pairs:
        """Count matches for the models, and return them as pairs."""
        matches = found.matches[: int(found.cursor[0]["found"])]
        arrival = matches["row"].astype(np.int64)  # indexing by int32 is slower
        row = block.counted.place(arrival, matches["look"])
        count, gained = block.results
        count += np.bincount(row, minlength=count.size)
        gained += np.bincount(row, matches["worth"], minlength=count.size)
        return self.matches.given(found, arrivals, block.start, block.watched[row])

    def _one_by_one(self, arriving: Arriving, out: Found) -> Iterator[Found]:
        kernel = probe_then_insert if self._probes_first else shed_then_join
        if self._rules.sheds_last:
            kernel = probe_then_shed
        cursor, why = out.cursor[0], GROW
        while why != DONE:
            table, out = self._store.table.table, self._for_leaving(arriving, out)
            why = kernel(self._rules, arriving, table, self.stops.candidates, out)
            if why == NO_ROOM and not cursor["found"]:
                out = self.room.doubled(out)
            elif why in (NO_ROOM, DONE):
                if cursor["found"]:
                    yield out
                    cursor["found"] = 0
            else:
                self.stops.help(why)

    def _ahead(
        self, arriving: Arriving, out: Found, lookahead: LookAhead
    ) -> Iterator[Found]:
        """Find encounters, decide which rows are evicted, then yield the matches."""
        rules, rows, cursor = self._rules, arriving.key.size, out.cursor[0]
        while cursor["row"] < rows:
            table, start = self._store.table.table, int(cursor["row"])
            cursor["run_start"] = self._facts["next_number"]
            out = self._for_leaving(arriving, out)
            out = lookahead.watch(out, self._store.table.size, rows)
            end = lookahead.look_up(start, arriving, table)
            while True:
                candidates = self.stops.candidates
                why = insert_until(end, rules, arriving, table, candidates, out)
                if why in (DONE, GROW):
                    break
                self.stops.help(why)
            yield from lookahead.matches(start, arriving, table, out)
            if why == GROW:
                self.stops.help(why)

    def _for_leaving(self, arriving: Arriving, out: Found) -> Found:
        """Buffers for all rows that may be shed: residents and arrivals of a block."""
        return self.room.for_leaving(self._store.table.size + arriving.key.size, out)

    def _refuse_too_large(self, arriving: Arriving) -> None:
        """Refuse rows that are larger than their whole pool.

        Otherwise, all residents would be evicted for such a row, and it would still not
        fit. In the report, ``stored`` includes refused rows, so these rows are added to
        both counts.
        """
        capacity, pooled = self._rules.capacity, self._rules.pooled
        if arriving.size.max() <= (capacity[0] if pooled else min(capacity)):
            return
        room = np.array(capacity)[arriving.stream * (not pooled)]
        large = (arriving.size > room) & (arriving.does & RETAIN > 0)
        arriving.does[large] &= ~RETAIN
        count = np.bincount(arriving.stream[large], minlength=len(capacity))
        self.room.tally[[STORED, REFUSED]] += count

    def _judge(self, scheme: Adaptive, time_us: int, gained: float) -> None:
        """Have scores computed again if the last instants gained too little."""
        unit = parse_duration(scheme.instant)
        instant = time_us // unit
        worse = self._store.note_gain(instant, gained, scheme)
        if worse and self._partners is None:  # with partners, all are scored anyway
            self._facts["sheds_left"] = 0

    @property
    def _facts(self) -> Record:
        return self._store.table.facts
