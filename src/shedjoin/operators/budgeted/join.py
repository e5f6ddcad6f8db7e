"""Opens, restores and writes the state of a join with a budget, for one shard.

Rows are stored in segments, as without a budget. The slot table, the models and the
counts of the census are stored as logs of their changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Blob
from shedjoin.columns.schema import as_stored
from shedjoin.operators.budgeted.adoption import take_over
from shedjoin.operators.budgeted.log import TableLog
from shedjoin.operators.budgeted.origin import check_sample, drawn_by
from shedjoin.operators.budgeted.step import budgeted_step
from shedjoin.operators.budgeted.store import BudgetedStore, shedding_of
from shedjoin.operators.budgeted.table import SlotTable
from shedjoin.operators.frame.completeness import Completeness
from shedjoin.operators.frame.join import Opening, Residents, Residing, Step
from shedjoin.operators.frame.limits import Paced
from shedjoin.operators.frame.reading import numbers_of
from shedjoin.operators.frame.sharing import Sharing
from shedjoin.sampling.lags import restore_lags
from shedjoin.sampling.thresholds import Thresholds
from shedjoin.spec.recall import OTHER_BUDGET
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs, Commit, load_segment
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload, row_of, segment_of
from shedjoin.state.workspace import MemoryWorkspace


class BudgetedJoin:
    """The join by key of one shard, which sheds rows to stay within a budget.

    Parameters
    ----------
    store : BudgetedStore
        The residents.
    log : TableLog
        The stored form of the slot table.
    """

    kind = "budgeted"

    def __init__(self, store: BudgetedStore, log: TableLog) -> None:
        self.spec = store.spec
        self.store = store
        self.payload = store.payload
        self._log = log

    @classmethod
    def open(cls, opening: Opening) -> BudgetedJoin:
        """Open the join from stored state, or begin a new one."""
        spec, directory, workspace = (
            opening.spec,
            opening.directory,
            opening.workspace,
        )
        table = SlotTable(
            workspace, len(spec.streams), seed=opening.seed, opened=opening.opened
        )
        if directory is None:
            return cls._begin(opening, table, Payload(workspace))
        check_sample(directory.own["sample"], shedding_of(spec))
        payload = Payload(workspace, directory.segments, directory.next_id)
        own = directory.own
        store = cls._store(opening, table, payload, own)
        join = cls(store, TableLog(own["log"]))
        join._restore(opening, directory)
        return join

    @classmethod
    def adopt(
        cls, opening: Opening, payload: Payload, residents: Iterable[Residents]
    ) -> BudgetedJoin:
        """Continue with those residents of another kind of join that fit the budget."""
        if Completeness.of(opening.directory).shed:
            check_sample(None, shedding_of(opening.spec))
        streams = len(opening.spec.streams)
        table = SlotTable(opening.workspace, streams, seed=opening.seed)
        join = cls._begin(opening, table, payload)
        take_over(join.store, residents)
        join.store.completeness.note_before(table.clock_us)
        return join

    @classmethod
    def _store(
        cls, opening: Opening, table: SlotTable, payload: Payload, own: dict[str, Any]
    ) -> BudgetedStore:
        return BudgetedStore(opening, table, payload, own)

    @classmethod
    def _begin(
        cls, opening: Opening, table: SlotTable, payload: Payload
    ) -> BudgetedJoin:
        store = cls._store(opening, table, payload, {})
        return cls(store, TableLog())

    @staticmethod
    def residents(blobs: Blobs, directory: Directory, spec: JoinSpec) -> Residing:
        """Read all residents as stored, segment by segment."""
        own = directory.own
        table = SlotTable(MemoryWorkspace(), len(spec.streams))
        table.resize(own["slots"])
        table.header[:] = own["facts"]
        TableLog(own["log"]).restore(table, blobs)
        place = np.sort(table.places[table.alive()])
        for segment in directory.segments:
            row = row_of(place[segment_of(place) == segment.id])
            if row.size:
                rows = as_stored(load_segment(blobs, segment.id))
                yield segment.stream, rows.take(pa.array(row))

    @staticmethod
    def numbers(directory: Directory) -> list[int]:
        """Numbers of all blobs except the directory."""
        own = directory.own
        return numbers_of(directory, Sharing.parts(own), own["log"], own["models"])

    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join the arrivals of a micro-batch, shed rows, and drop expired residents."""
        return budgeted_step(self.store, arrived, watermark_ms)

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write the slot table and the models; return facts for the directory."""
        store, table = self.store, self.store.table
        table.order_free_slots()
        self._log.write(table, changes)
        return {
            "slots": table.size,
            "facts": table.header.tolist(),
            "pooled": store.pooled,
            "in_bytes": store.in_bytes,
            "sample": drawn_by(store.shedding),
            "log": self._log.parts,
            **store.kept_models.write(changes),
            **store.sharing.write(changes),
            **store.completeness.facts(),
            **store.needed.facts(),
            "throttled": store.throttled,
            "scored_us": store.scored_us,
            "paced": store.paced,
            "importance": repr(store.shedding.importance),
            "gains": store.gains,
            "thresholds": store.thresholds.noted,
            "lags": store.lags[0].tolist(),
        }

    def _restore(self, opening: Opening, directory: Directory) -> None:
        store, own = self.store, directory.own
        store.watermark_ms = directory.watermark_ms
        store.throttled = own.get("throttled", 1.0)
        store.scored_us = own.get("scored_us")
        store.paced = Paced(*own.get("paced", ()))
        store.gains = [(at, gained) for at, gained in own["gains"]]
        store.thresholds = Thresholds(len(self.spec.streams), own["thresholds"])
        if self.spec.samples and "lags" in own:
            restore_lags(store.lags, own["lags"])
        if not opening.opened:
            for number in self.payload.segments:
                self.payload.restore(number, opening.blobs)
            store.table.resize(own["slots"])
            store.table.header[:] = own["facts"]
            self._log.restore(store.table, opening.blobs)
        if store.kept_models.forgotten:
            store.completeness.note_untold(OTHER_BUDGET, store.table.clock_us)
        if own["in_bytes"] != store.in_bytes:
            store.measure()
        importance = store.shedding.importance
        if importance is not None and own.get("importance") != repr(importance):
            store.revalue(importance)
        if not opening.opened or store.pooled != own["pooled"]:
            store.table.finish(pooled=store.pooled)
