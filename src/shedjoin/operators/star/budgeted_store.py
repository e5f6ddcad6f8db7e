"""One shard's residents of two streams under a budget, and the relation between them.

The relation is not limited: it has segments of its own, which are counted apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from shedjoin.kernels.partners import Pairs, Ranges, find_residents
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.budgeted.table import SlotTable
from shedjoin.operators.frame.join import Opening
from shedjoin.operators.frame.results import ROOM
from shedjoin.operators.star.fixed import FixedRelation
from shedjoin.operators.star.looking import SIDES, RelationLooks
from shedjoin.operators.star.relation import Grown
from shedjoin.operators.star.relation_store import RelationStore, stored_relation
from shedjoin.spec.recall import EXACT, LATE_RELATION, UNSTEADY
from shedjoin.state.blobs import Commit
from shedjoin.state.payload import Payload
from shedjoin.state.segments import Segment
from shedjoin.types import IntArray

_FIRST_NUMBER = 1 << 40
"""Segments of the relation are numbered from here on, those of residents below."""


_STEADY = 0.95
"""If at least this part of the relation stays as it is, recall can be told."""


class BudgetedStarStore(BudgetedStore):
    """Residents of one shard, who leave when nothing can relate them any more.

    Parameters
    ----------
    opening : Opening
        The join, and what was stored.
    table, payload : SlotTable, Payload
        The residents.
    own : dict
        What the join has stored, if it is the same kind of join.
    """

    def __init__(
        self,
        opening: Opening,
        table: SlotTable,
        payload: Payload,
        own: dict[str, Any],
    ) -> None:
        spec, opened = opening.spec, opening.opened
        super().__init__(opening, table, payload, own)
        if spec.relation is None:
            raise TypeError(spec)
        stored: dict[str, Any] = {}
        if opening.directory is not None:
            stored = opening.directory.own["relation"]
        known = stored if "own_segments" in stored else {}  # else it had no budget
        segments = tuple(Segment(*facts) for facts in known.get("own_segments", ()))
        self.delay_us = spec.relation.delay_us
        self._seed = known.get("seed", opening.seed)
        self._first_us: int | None = known.get("first_us")
        """The earliest time of an arrival."""
        self.moved = np.zeros(0, np.int64)
        self._rows = Payload(
            opening.workspace, segments, known.get("next_id", _FIRST_NUMBER)
        )
        relation = opening.relation
        if relation is None:
            relation = RelationStore(
                opening.workspace, self._rows, self._seed, known, opened=opened
            )
            if stored and not known:
                relation.take_over(stored_relation(opening))
            elif not opened:
                relation.restore(opening.blobs)
        else:
            relation.check(stored)
        self.relation: RelationStore | FixedRelation = relation
        self.through = RelationLooks(spec, self.relation)

    @property
    def passed_us(self) -> int:
        """No arrivals of times up to this one come any more."""
        return 1000 * self.watermark_ms - self.spec.lag_us

    def note_unseen(self, grown: Grown) -> None:
        """Note that relation rows relate rows that came before them.

        Models counted these rows without, and some may have been shed.
        """
        since = np.maximum(self.relation.rows.begin[grown.slot], grown.since)
        seen = self.table.facts["next_number"] > 0
        if seen and (since <= self.table.clock_us).any():
            self.completeness.note_untold(LATE_RELATION, self.table.clock_us)

    def start(self, first_us: int, watermark_ms: int) -> None:
        """Begin to join arrivals, of which the first has this time."""
        super().start(first_us, watermark_ms)
        known = first_us if self._first_us is None else self._first_us
        self._first_us = min(first_us, known)

    def untold(self) -> int:
        """Tell why the recall is not known: the relation comes and goes.

        Models take one that was active when a row came as active for its partners.
        """
        now_us = self.table.clock_us
        since_us = now_us - self.spec.window_us
        if self._first_us is not None:
            since_us = max(since_us, self._first_us)
        steady = self.relation.rows.steady(since_us, now_us)
        return UNSTEADY if steady < _STEADY else EXACT

    def tidy_relation(self) -> None:
        """Rewrite segments of the relation; its rows may get other slots."""
        self.relation.tidy(min(map(self.horizon_us, SIDES)))

    def write_relation(self, changes: Commit) -> dict[str, Any]:
        """Write what has changed of the relation; give its part of the directory."""
        self._rows.write(changes)
        self._rows.settle()  # who fails from here on opens the join anew
        return self.relation.write(changes) | {
            "own_segments": [tuple(each) for each in self._rows.segments.values()],
            "next_id": self._rows.next_id,
            "seed": self._seed,
            "first_us": self._first_us,
        }

    def horizon_us(self, stream: int) -> int:
        """Nothing can match residents up to this time, nor relate them any more."""
        return self.spec.expired_us(stream, self.watermark_ms)

    def expire(self, watermark_ms: int) -> IntArray:
        """Let go of residents that nothing can match any more; how many, by stream.

        That is after their time, or when all relation rows have ended that were active
        at their time and no more can come.
        """
        before_us = self.passed_us
        self.watermark_ms = max(self.watermark_ms, watermark_ms)
        left, right = map(self.horizon_us, SIDES)
        count = self.table.expire((left, right), pooled=self.pooled)
        alive = self.table.alive()
        rows = self.table.residents(alive, self.spec.keeps_us, None)
        due = self._due(rows.stream, rows.key, rows.time, before_us)
        gone = alive[due]
        count += np.bincount(self.table.stream(gone), minlength=len(SIDES))
        self.table.vacate(gone, pooled=self.pooled)
        self.moved = self.moved[:0]
        return count

    def found(self, ranges: Ranges) -> Iterator[tuple[IntArray, IntArray]]:
        """Find residents of some keys between two times: which key has which slot."""
        pairs = Pairs(*(np.empty(ROOM, np.int64) for _ in range(2)))
        start, first = 0, -1
        while start < ranges.key.size:
            count, start, first = find_residents(
                ranges, start, first, self.table.table, pairs
            )
            yield pairs.row[:count].copy(), pairs.slot[:count].copy()

    def _due(
        self, stream: IntArray, key: IntArray, time: IntArray, before_us: int
    ) -> IntArray:
        """Residents whose relation rows have all ended, of those it may be true of.

        They are those for whom no more relation rows can come since a former time, and
        those that a relation row has which ended since.
        """
        now_us, relation = self.passed_us, self.relation.rows
        low, high = before_us - self.delay_us, now_us - self.delay_us
        ended = np.union1d(relation.ended(before_us, now_us), self.moved)
        ended = ended[relation.end[ended] <= now_us]
        asked = (time > low) & (time <= high)
        for side in SIDES:
            keys = np.unique(relation.keys(side)[ended])
            asked |= (stream == side) & np.isin(key, keys)
        asked &= time <= high
        due = [np.zeros(0, np.int64)]
        for side in SIDES:
            mine = np.flatnonzero(asked & (stream == side))
            last_us = relation.last_end(side, key[mine], time[mine])
            due.append(mine[last_us <= now_us])
        return np.concatenate(due)
