"""Holds the residents of one shard of a join with a budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.errors import ParameterError
from shedjoin.kernels.places import are_arrivals, arrivals_at
from shedjoin.models.learned import Models
from shedjoin.operators.budgeted.layout import slot_bytes
from shedjoin.operators.budgeted.rewriting import is_dense, tidy
from shedjoin.operators.budgeted.table import SlotTable
from shedjoin.operators.budgeted.through import OWN_KEYS, Through
from shedjoin.operators.frame.completeness import Completeness
from shedjoin.operators.frame.join import Opening
from shedjoin.operators.frame.kept_models import KeptModels
from shedjoin.operators.frame.limits import TYPICAL_ROW_BYTES, Paced, usable_of
from shedjoin.operators.frame.needed import Needed
from shedjoin.operators.frame.ordered import Ordered, budget_sizes
from shedjoin.operators.frame.sharing import Share, Sharing
from shedjoin.sampling.lags import lags_of
from shedjoin.sampling.thresholds import Thresholds
from shedjoin.spec.importance import Importances, importance_of
from shedjoin.spec.recall import EXACT
from shedjoin.spec.recompute import Adaptive
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.payload import Payload, places
from shedjoin.types import Grid, IntArray

_FARTHEST = 8.0
"""Limit of the factor by which the allowed work is corrected for recent work."""


def shedding_of(spec: JoinSpec) -> Shedding:
    """Shedding of a join; raise if the join has no budget."""
    if spec.shedding is None:
        raise ParameterError("this join has no budget.", fix="pass budget=Budget(...).")
    return spec.shedding


class BudgetedStore:
    """Slot table, rows and models of one shard.

    Parameters
    ----------
    opening : Opening
        Spec, stored state and workspace from which the join is opened.
    table, payload : SlotTable, Payload
        The residents, and their rows.
    own : dict
        Facts that a join of the same kind has stored; empty if there are none.
    """

    def __init__(
        self,
        opening: Opening,
        table: SlotTable,
        payload: Payload,
        own: dict[str, Any],
    ) -> None:
        spec, shard = opening.spec, opening.shard
        self.spec = spec
        self.shedding = shedding_of(spec)
        budget = self.shedding.budget
        self.shard = shard
        self.thresholds = Thresholds(len(spec.streams))
        self.lags = lags_of(spec)
        self.in_bytes = budget.in_bytes
        self.slot_bytes = slot_bytes(len(spec.streams))
        self.sharing = Sharing(opening, own, index_bytes=self.slot_bytes)
        self.pooled = budget.split is None
        self.limit(self.sharing.now)
        self.table = table
        self.payload = payload
        words = Models.words_of(len(spec.streams))
        self.kept_models = KeptModels(opening, own, self._make_models, words)
        self.watermark_ms = 0
        self.completeness = Completeness.of(opening.directory)
        self.needed = Needed(spec, own)
        self.throttled = 1.0  # share of work when residents were stored
        self.paced = Paced()
        self.revalued = False
        self.scored_us: int | None = None
        """The clock at which all residents were last scored by their partners."""
        self.through: Through = OWN_KEYS
        """Decides which keys match: equal keys, or keys that a relation connects."""
        self.gains: list[tuple[int, float]] = []
        self.not_adopted = np.zeros(len(spec.streams), np.int64)

    @property
    def models(self) -> Models:
        """The models of the shard."""
        return self.kept_models.models

    def _make_models(self, words: IntArray) -> Models:
        return Models(
            self.spec.keeps_us,
            self.capacity_rows,
            samples=self.shedding.policy.samples,
            combine=self.shedding.combine_code,
            lateness_us=self.spec.lateness_us,
            words=words,
        )

    def limit(self, share: Share) -> None:
        """Use this share from now on; :meth:`shed_surplus` then sheds the surplus."""
        self.share, self.other_shares = share.size, share.others
        self._usable = usable_of(self.shedding.budget, self.share)
        self.capacity = self._pools(self._usable)
        row_bytes = TYPICAL_ROW_BYTES if self.in_bytes else 1
        self.capacity_rows = self._usable // row_bytes

    @property
    def other_rooms(self) -> Grid:
        """Room that each pool would have with other budgets, by pool and budget."""
        others = self.other_shares.tolist()
        budget = self.shedding.budget
        rooms = [self._pools(usable_of(budget, share)) for share in others]
        found: Grid = np.array(rooms, np.float64).T[: 1 if self.pooled else None].copy()
        return found

    def _pools(self, usable: int) -> tuple[int, ...]:
        return self.shedding.budget.by_pool(usable, len(self.spec.streams))

    @property
    def nbytes(self) -> int:
        """Bytes of the segments, and of the slots with their index."""
        if not self.table.count:
            return 0
        return self.payload.nbytes + self.slot_bytes * self.table.size

    def expire(self, watermark_ms: int) -> IntArray:
        """Remove residents that no arrival can match any more; count by stream."""
        self.watermark_ms = max(self.watermark_ms, watermark_ms)
        streams = range(len(self.spec.streams))
        horizon = tuple(self.spec.expired_us(n, self.watermark_ms) for n in streams)
        return self.table.expire(horizon, pooled=self.pooled)

    def untold(self) -> int:
        """Code of the reason why the recall is unknown; ``EXACT`` if it is known."""
        return EXACT

    def start(self, first_us: int, watermark_ms: int) -> None:
        """Begin to join arrivals; ``first_us`` is the time of the first arrival."""
        if self.table.start(first_us, 1000 * watermark_ms, self.spec.window_us):
            self.kept_models.begin(first_us)

    def keep_pending(self, arrivals: Ordered) -> None:
        """Store the rows of those arrivals that are residents now."""
        place = self.table.places
        slot = self.table.pending(arrivals.stream.size)
        rows = np.flatnonzero(slot >= 0)
        for own in range(len(self.spec.streams)):
            mine = rows[arrivals.stream[rows] == own]
            if mine.size:
                taken = arrivals.rows[own].take(pa.array(arrivals.origin[mine]))
                place[slot[mine]] = places(self.payload.add(own, taken))

    def stream_at(self, place: IntArray, arrivals: Ordered) -> IntArray:
        """Stream of each resident, given the place of its row."""
        stream = np.empty(place.size, np.int64)
        fresh = are_arrivals(place)
        stream[fresh] = arrivals.stream[arrivals_at(place[fresh])]
        if not fresh.all():
            ids, owner = self.payload.owners(place[~fresh])
            of = np.array([self.payload.segments[one].stream for one in ids])
            stream[~fresh] = of[owner]
        return stream

    def measure(self) -> None:
        """Compute the sizes of all residents again.

        This is needed when the unit of the budget has changed. Scores may depend on
        sizes. So the scores of a dynamic policy are computed again later.
        """
        self.revalued |= self.shedding.policy.dynamic
        alive = self.table.alive()
        size = np.ones(alive.size, np.int64)
        if self.in_bytes and alive.size:
            place = self.table.places[alive]
            for rows, hit, at in self.payload.by_place(place):
                size[at] = budget_sizes(rows, self.slot_bytes)[hit]
        self.table.set_sizes(alive, size, pooled=self.pooled)

    def revalue(self, importances: Importances) -> None:
        """Compute the importance of all residents again; scores are updated later."""
        alive = self.table.alive()
        if not alive.size:
            return
        worth = np.full(alive.size, np.inf)
        for rows, hit, at in self.payload.by_place(self.table.places[alive]):
            stream = int(self.table.stream(alive[at[:1]])[0])
            source = importances.of(self.spec.names[stream])
            worth[at] = importance_of(source, rows)[hit]
        self.table.set_importance(alive, worth)
        self.revalued = True

    def count_ahead(self, time: IntArray) -> int:
        """Count arrivals that are more than the window ahead of the clock."""
        horizon = self.table.clock_us + self.spec.window_us
        return int((time > horizon).sum())

    @property
    def paced_share(self) -> float:
        """Share of work to allow, corrected if recent work differed from the plan."""
        far = self.paced.ratio(1 / _FARTHEST, _FARTHEST)
        return min(1.0, self.shedding.throttle.share / far)

    def limit_sample(self) -> None:
        """Reduce the residents of a sample while a throttle allows less than all work.

        Fewer residents have fewer matches, so there is less work. The weights of the
        results account for this.
        """
        throttle, usable = self.shedding.throttle, self._usable
        if self.shedding.policy.samples and throttle.active:
            known = self.models.rows_in_window()
            # An empty sample estimates nothing, so at least one row is kept.
            rows = max(1.0, self.paced_share * known)
            if self.in_bytes:
                count, used = self.table.count, int(self.table.used.sum())
                rows *= used / count if count else TYPICAL_ROW_BYTES
            usable = min(usable, int(rows)) if known else usable
        self.capacity = self._pools(usable)

    def shed_surplus(self) -> IntArray:
        """Shed residents that exceed the share; return their number by stream.

        There are such residents if the share was larger before. They are shed before
        any arrival is joined. The number includes rows that did not fit when this join
        took over the residents of another join.
        """
        shed, self.not_adopted = self.not_adopted, np.zeros_like(self.not_adopted)
        for pool, capacity in enumerate(self.capacity):
            surplus = int(self.table.used[pool]) - capacity
            if surplus > 0:
                alive = self.table.alive()
                mine = alive if self.pooled else alive[self.table.stream(alive) == pool]
                shed += self._shed_lowest(mine, surplus, (pool,))
        return shed

    def fit(self) -> IntArray:
        """Rewrite sparse segments and a sparse table; fit the state into the budget.

        If the budget is in bytes and the state still exceeds the share, residents are
        shed. Return their number by stream.
        """
        shed = np.zeros(len(self.spec.streams), np.int64)
        spare = self.share - self.slot_bytes * self.table.size
        self._tidy(spare if self.in_bytes else None)
        if self.table.size > 4 * self.table.count + 1024:
            self.table.resize(self.table.count)
        while self.in_bytes and self.nbytes > self.share and self.table.count:
            if self.table.size > self.table.count:
                self.table.resize(self.table.count)
            self._tidy(0)
            if self.nbytes > self.share:
                shed += self._shed_some()
        return shed

    def note_gain(self, instant: int, gained: float, scheme: Adaptive) -> bool:
        """Record the importance that an instant gained; return whether gains fell.

        See :class:`shedjoin.spec.recompute.Adaptive`.
        """
        self.gains = [g for g in self.gains if g[0] > instant - 2 * scheme.span]
        self.gains.append((instant, gained))
        late = sum(g for at, g in self.gains if at > instant - scheme.span)
        early = sum(g for at, g in self.gains if at <= instant - scheme.span)
        return late <= (1.0 - scheme.tolerance) * early

    def _tidy(self, most: int | None) -> None:
        if most is None and is_dense(self.payload, self.table.count):
            return
        alive = self.table.alive()
        place = self.table.places
        size = None
        if self.in_bytes:
            size = self.table.sizes(alive) - self.slot_bytes
        moved = tidy(self.payload, place[alive], size, most)
        changed = np.flatnonzero(moved != place[alive])
        place[alive[changed]] = moved[changed]
        self.table.touch(alive[changed])

    def _shed_some(self) -> IntArray:
        """Shed residents with the lowest scores: an eighth of the size of all."""
        alive = self.table.alive()
        eighth = -(-int(self.table.sizes(alive).sum()) // 8)
        return self._shed_lowest(alive, eighth, tuple(range(len(self.capacity))))

    def _shed_lowest(
        self, slots: IntArray, size: int, pools: tuple[int, ...]
    ) -> IntArray:
        """Shed residents with the lowest scores, until their sizes exceed ``size``.

        Return their number by stream. ``pools`` are the pools from which they may be.
        """
        number, score = self.table.numbers[slots], self.table.table.score[slots]
        order = slots[np.lexsort((self.shedding.tie * number, score))]
        count = int(np.searchsorted(np.cumsum(self.table.sizes(order)), size)) + 1
        gone = order[:count]
        if self.shedding.policy.samples:
            highest = float(self.table.table.score[gone].max())
            for pool in pools:
                last = int(self.table.facts["next_number"]) - 1
                self.thresholds.note(pool, last, highest)
        by_stream = np.bincount(
            self.table.stream(gone), minlength=len(self.spec.streams)
        )
        self.table.vacate(gone, pooled=self.pooled)
        return by_stream
