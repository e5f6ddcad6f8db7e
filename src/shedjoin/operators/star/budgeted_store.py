"""One shard's residents of two streams under a budget, and the relation between them.

The budget does not limit the relation. It has segments of its own, which are counted
apart.
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
"""Segments of the relation have numbers from here on, those of residents below."""


_STEADY = 0.95
"""Recall is estimated if at least this part of the relation stays as it is."""


class BudgetedStarStore(BudgetedStore):
    """Residents of one shard, which leave when nothing can relate them any more.

    Parameters
    ----------
    opening : Opening
        The join, and what was stored.
    table, payload : SlotTable, Payload
        The residents.
    own : dict
        What the join has stored, if it was the same kind of join.
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
        known = stored if "own_segments" in stored else {}  # else there was no budget
        segments = tuple(Segment(*facts) for facts in known.get("own_segments", ()))
        self.delay_us = spec.relation.delay_us
        self._seed = known.get("seed", opening.seed)
        self._first_us: int | None = known.get("first_us")
        """Earliest time of an arrival."""
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
        """Time up to which no arrivals come any more."""
        return 1000 * self.watermark_ms - self.spec.lag_us

    def note_unseen(self, grown: Grown) -> None:
        """Note relation rows that came after rows that they relate.

        Models did not count these rows as related, and some may have been shed.
        """
        since = np.maximum(self.relation.rows.begin[grown.slot], grown.since)
        seen = self.table.facts["next_number"] > 0
        if seen and (since <= self.table.clock_us).any():
            self.completeness.note_untold(LATE_RELATION, self.table.clock_us)

    def start(self, first_us: int, watermark_ms: int) -> None:
        """Begin to join arrivals, the first of which has this time."""
        super().start(first_us, watermark_ms)
        known = first_us if self._first_us is None else self._first_us
        self._first_us = min(first_us, known)

    def untold(self) -> int:
        """Reason why the recall is unknown; ``EXACT`` if it is known.

        It is unknown if too much of the relation comes and goes. Models assume that a
        relation row that was active for a row is also active for its partners.
        """
        now_us = self.table.clock_us
        since_us = now_us - self.spec.window_us
        if self._first_us is not None:
            since_us = max(since_us, self._first_us)
        steady = self.relation.rows.steady(since_us, now_us)
        return UNSTEADY if steady < _STEADY else EXACT

    def tidy_relation(self) -> None:
        """Rewrite segments of the relation; its rows may move to other slots."""
        self.relation.tidy(min(map(self.horizon_us, SIDES)))

    def write_relation(self, changes: Commit) -> dict[str, Any]:
        """Write what has changed in the relation; return its part of the directory."""
        self._rows.write(changes)
        self._rows.settle()  # after a later failure the join is opened again
        return self.relation.write(changes) | {
            "own_segments": [tuple(each) for each in self._rows.segments.values()],
            "next_id": self._rows.next_id,
            "seed": self._seed,
            "first_us": self._first_us,
        }

    def horizon_us(self, stream: int) -> int:
        """Time up to which residents can be neither matched nor related any more."""
        return self.spec.expired_us(stream, self.watermark_ms)

    def expire(self, watermark_ms: int) -> IntArray:
        """Remove residents that nothing can match any more; count them by stream.

        That is when their time is over. It is also when all relation rows that were
        active at their time have ended, and no more of these can come.
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
        """Yield residents of some keys between two times: index of key, and slot."""
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
        """Residents whose relation rows have all ended, of those that may be affected.

        These are residents for which it has become certain since a former time that no
        more relation rows come. They are also residents with a relation row that has
        ended since then.
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
