"""Holds the residents of one shard of a star join with a budget, and the relation.

The budget does not limit the relation. So the relation has its own segments, which do
not count towards the budget.
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
from shedjoin.operators.star.changing import SIDES, passed_us
from shedjoin.operators.star.fixed import fixed_relation
from shedjoin.operators.star.looking import RelationLooks
from shedjoin.operators.star.relation import Grown
from shedjoin.operators.star.relation_store import RelationStore, stored_relation
from shedjoin.spec.recall import EXACT, LATE_RELATION, UNSTEADY
from shedjoin.state.blobs import Commit
from shedjoin.state.payload import Payload
from shedjoin.state.segments import Segment
from shedjoin.types import IntArray

_FIRST_NUMBER = 1 << 40
"""Segments of the relation have numbers from this one on. Segments of residents have
lower numbers."""


_STEADY = 0.95
"""The recall is estimated only if at least this part of the relation rows was valid
during the whole window."""


class BudgetedStarStore(BudgetedStore):
    """Residents of one shard, which also expire when their relation rows have ended.

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
        spec = opening.spec
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
        self._rows = Payload(
            opening.workspace, segments, known.get("next_id", _FIRST_NUMBER)
        )
        self.relation = fixed_relation(opening) or self._restored(opening, known)
        self.through = RelationLooks(spec, self.relation)

    def _restored(self, opening: Opening, known: dict[str, Any]) -> RelationStore:
        """Read the stored relation of a join with or without a budget."""
        relation = RelationStore(
            *(opening.workspace, self._rows, self._seed, known), opened=opening.opened
        )
        if opening.directory is not None and not known:
            relation.take_over(stored_relation(opening))
        elif not opening.opened:
            relation.restore(opening.blobs)
        return relation

    def latest_us(self) -> int:
        """Greatest time of a resident; 0 if there is none."""
        times = self.table.residents(self.table.alive(), self.spec.keeps_us, None).time
        return int(times.max(initial=0))

    def note_unseen(self, grown: Grown) -> None:
        """Record that the recall is unknown, if relation rows came too late.

        A relation row comes too late if it connects stream rows that came before it.
        Models did not count these stream rows as related, and some may have been shed.
        """
        since = np.maximum(self.relation.rows.begin[grown.slot], grown.since)
        seen = self.table.facts["next_number"] > 0
        if seen and (since <= self.table.clock_us).any():
            self.completeness.note_untold(LATE_RELATION, self.table.clock_us)

    def start(self, first_us: int, watermark_ms: int) -> None:
        """Begin to join arrivals; ``first_us`` is the time of the first arrival."""
        super().start(first_us, watermark_ms)
        known = first_us if self._first_us is None else self._first_us
        self._first_us = min(first_us, known)

    def untold(self) -> int:
        """Code of the reason why the recall is unknown; ``EXACT`` if it is known.

        The recall is unknown if too much of the relation has changed within the window.
        Models assume that a relation row is valid at the times of both rows of a match,
        if it is valid at the time of one of them.
        """
        now_us = self.table.clock_us
        since_us = now_us - self.spec.window_us
        if self._first_us is not None:
            since_us = max(since_us, self._first_us)
        steady = self.relation.rows.steady(since_us, now_us)
        return UNSTEADY if steady < _STEADY else EXACT

    def write_relation(self, changes: Commit) -> dict[str, Any]:
        """Write the changes of the relation; return its facts for the directory."""
        self._rows.write(changes)
        self._rows.settle()  # if the commit fails later, the join is opened again
        return self.relation.write(changes) | {
            "own_segments": [tuple(each) for each in self._rows.segments.values()],
            "next_id": self._rows.next_id,
            "seed": self._seed,
            "first_us": self._first_us,
        }

    def horizon_us(self, stream: int) -> int:
        """Time up to which residents cannot be matched any more."""
        return self.spec.expired_us(stream, self.watermark_ms)

    def expire(self, watermark_ms: int) -> IntArray:
        """Remove residents that no arrival can match any more; count by stream.

        A resident is removed when its window is over. It is also removed when two
        conditions hold: all relation rows that were valid at its time have ended, and
        no further relation row for that time can come.
        """
        before_us = passed_us(self)
        self.watermark_ms = max(self.watermark_ms, watermark_ms)
        left, right = map(self.horizon_us, SIDES)
        count = self.table.expire((left, right), pooled=self.pooled)
        alive = self.table.alive()
        rows = self.table.residents(alive, self.spec.keeps_us, None)
        due = self._due(rows.stream, rows.key, rows.time, before_us)
        gone = alive[due]
        count += np.bincount(self.table.stream(gone), minlength=len(SIDES))
        self.table.vacate(gone, pooled=self.pooled)
        return count

    def found(self, ranges: Ranges) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield residents with keys and times in given ranges.

        Each resident is yielded as a pair: the index of its range, and its slot.
        """
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
        """Indices of the residents whose relation rows have all ended.

        Only two groups of residents are checked. For residents of the first group,
        relation rows could still come at ``before_us``, but no longer now. For the
        second group, a relation row of their key has ended since ``before_us``.
        """
        now_us, relation = passed_us(self), self.relation.rows
        low, high = before_us - self.delay_us, now_us - self.delay_us
        ended = relation.ended(before_us, now_us)
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
