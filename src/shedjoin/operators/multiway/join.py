"""The join by predicates of one shard: opens its state and runs its steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from shedjoin.columns.arrivals import Blob, row_counts
from shedjoin.columns.hot import hot_columns
from shedjoin.operators.frame.completeness import Completeness
from shedjoin.operators.frame.join import (
    Opening,
    Residents,
    Residing,
    Running,
    Step,
    as_step,
)
from shedjoin.operators.frame.reading import numbers_of, residing
from shedjoin.operators.frame.step import windowed_step
from shedjoin.operators.multiway.harvesting import Harvesting, edges_of
from shedjoin.operators.multiway.hops import taken_in
from shedjoin.operators.multiway.lags import Edges
from shedjoin.operators.multiway.learned import Learned
from shedjoin.operators.multiway.store import MultiwayStore
from shedjoin.operators.multiway.windows import FINE_PARTS, PARTS
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload


class MultiwayJoin:
    """The join by predicates of one shard, which keeps rows until they expire.

    While a throttle allows less than all work, arrivals are compared with only some of
    the residents.

    Parameters
    ----------
    store : MultiwayStore
        The residents.
    completeness : Completeness
        Record of missing results.
    learned : dict, optional
        What ``Learned.facts`` returned when the state was stored.
    """

    kind = "multiway"

    def __init__(
        self,
        store: MultiwayStore,
        completeness: Completeness,
        learned: dict[str, Any] | None = None,
    ) -> None:
        self._completeness = completeness
        self.spec = store.spec
        self.store = store
        self.payload = store.payload
        self._harvested: tuple[Learned, Edges] | None = None
        if self.spec.shedding is not None:
            known = Learned.of(learned, len(store.streams))
            self._harvested = known, edges_of(store)

    @classmethod
    def open(cls, opening: Opening) -> MultiwayJoin:
        """Open the join from stored state, or begin a new one."""
        directory, workspace = opening.directory, opening.workspace
        if directory is None:
            parts = PARTS if opening.spec.shedding is None else FINE_PARTS
            payload = Payload(workspace)
            store = MultiwayStore(opening.spec, payload, workspace, parts)
            return cls(store, Completeness())
        payload = Payload(workspace, directory.segments, directory.next_id)
        own = directory.own
        parts = own.get("parts", PARTS)
        store = MultiwayStore(opening.spec, payload, workspace, parts)
        store.watermark_ms = directory.watermark_ms
        if opening.opened:
            store.open(own)
        else:
            store.restore(own, opening.blobs)
        return cls(store, Completeness.of(directory), own.get("learned"))

    @classmethod
    def adopt(
        cls, opening: Opening, payload: Payload, residents: Iterable[Residents]
    ) -> MultiwayJoin:
        """Continue with the residents of another kind of join."""
        spec = opening.spec
        parts = PARTS if spec.shedding is None else FINE_PARTS
        store = MultiwayStore(spec, payload, opening.workspace, parts)
        latest_us = 0
        for stream, rows in residents:
            if rows.num_rows:
                hot = hot_columns(rows, spec.streams[stream], direct=spec.direct)
                latest_us = max(latest_us, int(hot.time.max()))
                store.insert(stream, rows, hot)
        completeness = Completeness.of(opening.directory)
        completeness.note_before(latest_us)
        return cls(store, completeness)

    @staticmethod
    def residents(blobs: Blobs, directory: Directory, spec: JoinSpec) -> Residing:
        """Read all stored residents, the oldest segments first."""
        return residing(blobs, directory, spec, directory.segments)

    @staticmethod
    def numbers(directory: Directory) -> list[int]:
        """Numbers of all blobs except the directory."""
        return numbers_of(directory)

    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join the arrivals of a micro-batch and remove expired residents."""
        shedding = self.spec.shedding
        horizon_us = self.spec.all_expired_us(self.store.watermark_ms)
        if shedding is None or self._harvested is None:
            step = windowed_step(
                self.store, partial(taken_in, self.store), arrived, watermark_ms
            )
            return self._completeness.of_whole(step, horizon_us)
        self._completeness.begin(horizon_us)
        coming = None
        if shedding.throttle.active:
            coming = row_counts(arrived, len(self.spec.streams))
        load = Harvesting(self.store, self._completeness, *self._harvested, coming)
        return self._limited_step(load, arrived, watermark_ms)

    @as_step
    def _limited_step(
        self, load: Harvesting, arrived: Sequence[Blob], watermark_ms: int
    ) -> Running:
        step = windowed_step(
            self.store, load.taken_in, arrived, watermark_ms, load.admitted
        )
        yield from step
        return load.end(step.report)

    def write(self, changes: Commit) -> dict[str, Any]:
        """Return facts for the directory. Tiers are not stored: rows restore them."""
        del changes
        facts = self.store.stored() | self._completeness.facts()
        if self._harvested is not None:
            facts |= {"learned": self._harvested[0].facts()}
        return facts
