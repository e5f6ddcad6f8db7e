"""Holds the residents and the relation of one shard of an exact star join."""

from __future__ import annotations

from typing import Any

import numpy as np

from shedjoin.columns.hot import Hot
from shedjoin.kernels.index import NEVER
from shedjoin.operators.exact.ring import probed
from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.runs import Stored
from shedjoin.operators.star.changing import passed_us
from shedjoin.operators.star.fixed import FixedRelation
from shedjoin.operators.star.relation import ROOM
from shedjoin.operators.star.relation_store import RelationStore
from shedjoin.spec.relation import ALWAYS_US
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs
from shedjoin.state.payload import ROW_BITS, Payload, row_of, segment_of
from shedjoin.state.workspace import Workspace
from shedjoin.types import IntArray


class StarStore(WindowStore):
    """Residents of one shard, which also expire when their relation rows have ended.

    Parameters
    ----------
    spec, payload, workspace, stored, opened
        As for :class:`WindowStore`.
    own : dict
        Stored facts of the relation; empty if there are none.
    fixed : FixedRelation, optional
        The relation, if it is not a part of the state.
    """

    def __init__(
        self,
        spec: JoinSpec,
        payload: Payload,
        workspace: Workspace,
        stored: Stored,
        own: dict[str, Any],
        fixed: FixedRelation | None = None,
        *,
        opened: bool = False,
    ) -> None:
        super().__init__(spec, payload, workspace, stored, opened=opened)
        if spec.relation is None:
            raise TypeError(spec)
        self.fixed = spec.relation.fixed
        self.delay_us = spec.relation.delay_us
        self.tells = bool(spec.relation.told)
        self.relation: RelationStore | FixedRelation = fixed or RelationStore(
            *(workspace, payload, stored.seed, own), opened=opened, tells=self.tells
        )
        self.floor_us = (-ALWAYS_US, -ALWAYS_US)
        """Lower limits of the horizons, by stream. A horizon is the time up to which
        residents have expired. It never moves back, even if the delay is made longer,
        because the expired rows have been removed."""
        self.gone: list[IntArray] = []

    def restore_without(self, blobs: Blobs, dead: IntArray) -> None:
        """Fill an empty workspace from the stored state, without the rows ``dead``.

        ``dead`` are the places of stored rows that are no longer residents.
        """
        self.restore(blobs)
        self.relation.restore(blobs)
        for stream in self.streams:
            first = {run.segment.id: run.first_slot for run in self.runs[stream]}
            own = dead[np.isin(segment_of(dead), list(first))]
            slots = [first[number] for number in segment_of(own).tolist()]
            self.rings[stream].bury_each(np.array(slots, np.int64) + row_of(own))

    def latest_us(self) -> int:
        """Greatest time of a resident; 0 if there is none."""
        return max((run.max_us for own in self.runs for run in own), default=0)

    def expire(self, watermark_ms: int) -> None:
        """Remove residents that no arrival can match any more.

        A resident is removed when its window is over. It is also removed when all
        relation rows that were valid at its time have ended. Relation rows may come
        with a delay. So a resident without relation rows is kept until the delay has
        passed.
        """
        before_us = passed_us(self)
        super().expire(watermark_ms)
        now_us = passed_us(self)
        ended = self.relation.rows.ended(before_us, now_us)
        for stream in self.streams:
            slots = np.union1d(
                self._judged(stream, before_us, now_us),
                self._residents_of(stream, ended),
            )
            self._leave(stream, slots, now_us)

    def dead(self) -> IntArray:
        """Places of rows that are no longer residents, in segments that still exist."""
        found = [np.zeros(0, np.int64)]
        for stream in self.streams:
            for run in self.runs[stream]:
                if run.alive < run.segment.rows:
                    hot = self.rings[stream].read(run.first_slot, run.segment.rows)
                    gone = np.flatnonzero(hot.time == NEVER)
                    found.append((run.segment.id << ROW_BITS) + gone)
        return np.concatenate(found)

    @property
    def dead_rows(self) -> int:
        """Number of stored rows that are not residents any more."""
        runs = (run for own in self.runs for run in own)
        return sum(run.segment.rows - run.alive for run in runs)

    @property
    def nbytes(self) -> int:
        """Bytes of payload and indexes."""
        return super().nbytes + self.relation.rows.nbytes

    def horizon_us(self, stream: int) -> int:
        """Time up to which residents cannot be matched any more."""
        return max(super().horizon_us(stream), self.floor_us[stream])

    def _judged(self, stream: int, before_us: int, now_us: int) -> IntArray:
        """Slots of residents for which relation rows can no longer come.

        These are the residents for which they still could come at ``before_us``, but
        not at ``now_us``.
        """
        low, high = before_us - self.delay_us, now_us - self.delay_us
        found = [np.zeros(0, np.int64)]
        for run in self.runs[stream]:
            if run.min_us <= high and run.max_us > low:
                time = self.rings[stream].read(run.first_slot, run.segment.rows).time
                hit = np.flatnonzero((time > low) & (time <= high))
                found.append(run.first_slot + hit)
        return np.concatenate(found)

    def _residents_of(self, stream: int, relation_rows: IntArray) -> IntArray:
        """Slots of residents with the key of any of the given relation rows.

        A resident is left out if it is older than the earliest start of the given
        relation rows with its key.
        """
        relation, ring = self.relation.rows, self.rings[stream]
        key, place = np.unique(
            relation.keys(stream)[relation_rows], return_inverse=True
        )
        low = np.full(key.size, np.iinfo(np.int64).max)
        np.minimum.at(low, place, relation.begin[relation_rows])
        low = np.maximum(low, self.horizon_us(stream) + 1)
        high = np.full(key.size, np.iinfo(np.int64).max)
        found = [np.zeros(0, np.int64)]
        for _, slot, _ in probed(ring, key, low, high, ROOM, in_order=False):
            found.append(slot.copy())
        return np.concatenate(found)

    def _leave(self, stream: int, slots: IntArray, now_us: int) -> None:
        """Remove residents at ``slots`` if all of their relation rows have ended."""
        ring = self.rings[stream]
        hot = ring.hot(slots)
        due = hot.time <= now_us - self.delay_us
        due &= hot.time > self.horizon_us(stream)
        slots, hot = slots[due], Hot(hot.key[due], hot.time[due])
        last_us = self.relation.rows.last_end(stream, *hot)
        slots = slots[last_us <= now_us]
        ring.bury_each(slots)
        first = np.array([run.first_slot for run in self.runs[stream]], np.int64)
        owner = np.searchsorted(first, slots, side="right") - 1
        for place in sorted(set(owner.tolist()), reverse=True):
            run = self.runs[stream][place]
            mine = slots[owner == place] - run.first_slot
            run = run._replace(alive=run.alive - mine.size)
            self.runs[stream][place] = run
            if run.alive:
                self.gone.append((run.segment.id << ROW_BITS) + mine)
            else:
                self._drop(stream, run)
