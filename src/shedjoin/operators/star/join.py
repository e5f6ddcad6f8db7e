"""The star join of one shard: opens its state, runs its steps, writes its facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from shedjoin.columns.arrivals import Blob
from shedjoin.columns.hot import hot_columns
from shedjoin.operators.frame.completeness import Completeness
from shedjoin.operators.frame.gone_log import GoneLog
from shedjoin.operators.frame.join import Opening, Residents, Residing, Step
from shedjoin.operators.frame.reading import numbers_of, residing
from shedjoin.operators.frame.runs import Stored
from shedjoin.operators.star.fixed import fixed_relation
from shedjoin.operators.star.relation_store import RelationStore, stored_relation
from shedjoin.operators.star.step import star_step
from shedjoin.operators.star.store import StarStore
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload


class StarJoin:
    """Joins rows of two streams whose keys a relation connects.

    Parameters
    ----------
    store : StarStore
        Residents and relation.
    gone : GoneLog
        Log of stored rows that are no longer residents, because their relation rows
        have ended.
    completeness : Completeness
        Whether rows were shed before. If this join continues a join with a budget, the
        rows that were shed there are missing.
    """

    kind = "star"

    def __init__(
        self, store: StarStore, gone: GoneLog, completeness: Completeness
    ) -> None:
        self.spec = store.spec
        self.store = store
        self.payload = store.payload
        self._gone = gone
        self._completeness = completeness

    @classmethod
    def open(cls, opening: Opening) -> StarJoin:
        """Open the join from stored state, or begin a new one."""
        spec, directory, workspace = (
            opening.spec,
            opening.directory,
            opening.workspace,
        )
        own: dict[str, Any] = {} if directory is None else directory.own
        stored = Stored((), (0, 0), opening.seed)
        payload = Payload(workspace)
        if directory is not None:
            stored = Stored.of(directory)
            payload = Payload(workspace, directory.segments, directory.next_id)
        store = StarStore(
            *(spec, payload, workspace, stored, own.get("relation", {})),
            fixed_relation(opening),
            opened=opening.opened,
        )
        gone = GoneLog(own.get("gone", ()))
        if directory is not None:
            store.watermark_ms = directory.watermark_ms
            left_us, right_us = own.get("horizons", store.floor_us)
            store.floor_us = left_us, right_us
            if not opening.opened:
                store.restore_without(opening.blobs, gone.places(opening.blobs))
        return cls(store, gone, Completeness.of(directory))

    @classmethod
    def adopt(
        cls, opening: Opening, payload: Payload, residents: Iterable[Residents]
    ) -> StarJoin:
        """Continue with the residents and the relation of a join with a budget."""
        spec, stored = opening.spec, Stored((), (0, 0), opening.seed)
        fixed = fixed_relation(opening)
        store = StarStore(*(spec, payload, opening.workspace, stored, {}), fixed)
        if isinstance(store.relation, RelationStore):
            store.relation.take_over(stored_relation(opening))
        for stream, rows in residents:
            own = spec.streams[stream]
            store.insert(stream, rows, hot_columns(rows, own, direct=spec.direct))
        return cls(store, GoneLog(), Completeness.of(opening.directory))

    @staticmethod
    def residents(blobs: Blobs, directory: Directory, spec: JoinSpec) -> Residing:
        """Read all stored residents, the oldest first."""
        gone = GoneLog(directory.own["gone"]).places(blobs)
        segments = Stored.of(directory).oldest_first
        return residing(blobs, directory, spec, segments, gone)

    @staticmethod
    def numbers(directory: Directory) -> list[int]:
        """Numbers of all blobs except the directory."""
        own = directory.own
        return numbers_of(directory, own["gone"], own["relation"]["ends"])

    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join the arrivals of a micro-batch and remove expired residents."""
        step = star_step(self.store, arrived, watermark_ms)
        horizon_us = self.spec.all_expired_us(self.store.watermark_ms)
        return self._completeness.of_whole(step, horizon_us)

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write the log of dropped rows and the relation; return facts to store."""
        store = self.store
        self._gone.write(store, changes)
        facts = store.stored().facts() | self._completeness.facts()
        relation = store.relation.write(changes)
        horizons = [store.horizon_us(stream) for stream in store.streams]
        own = {"gone": self._gone.parts, "horizons": horizons, "relation": relation}
        return facts | own
