"""The join of one shard, of several streams or by predicates, with a memory budget.

Rows are stored in segments, as without a budget. Logs are stored in addition: one of
the places of evicted rows, and one of the changes of the models. If shards share the
budget, the counts of the census also have a log.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Blob
from shedjoin.columns.hot import hot_columns
from shedjoin.errors import ParameterError
from shedjoin.models.learned import Models
from shedjoin.operators.frame.completeness import Completeness
from shedjoin.operators.frame.gone_log import GoneLog
from shedjoin.operators.frame.join import (
    BEGINNING_MS,
    Opening,
    Residents,
    Residing,
    Step,
)
from shedjoin.operators.frame.kept_models import KeptModels
from shedjoin.operators.frame.needed import Needed
from shedjoin.operators.frame.reading import numbers_of, residing
from shedjoin.operators.frame.sharing import Sharing
from shedjoin.operators.multiway.bounded_step import Bounded, bounded_step
from shedjoin.operators.multiway.bounded_store import BoundedStore
from shedjoin.operators.multiway.counted import counted_keys, reach
from shedjoin.operators.multiway.layout import ADDED, Layout, numbered
from shedjoin.operators.multiway.learning import Arrived, Learning
from shedjoin.operators.multiway.losses import Losses
from shedjoin.operators.multiway.shedder import Shedder
from shedjoin.operators.multiway.windows import PARTS
from shedjoin.spec.recall import OTHER_BUDGET
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload
from shedjoin.types import IntArray


class BoundedJoin:
    """The join of one shard, which sheds rows to stay within a memory budget.

    Parameters
    ----------
    opening : Opening
        Spec, stored state and workspace from which the join is opened.
    payload : Payload
        Rows of the residents.
    """

    kind = "bounded"

    def __init__(self, opening: Opening, payload: Payload) -> None:
        spec, own = opening.spec, {}
        if opening.directory is not None and opening.directory.kind == self.kind:
            own = opening.directory.own
        if spec.shedding is None:
            raise ParameterError(
                "this join has no budget.", fix="pass budget=Budget(...)."
            )
        self.spec = spec
        self.payload = payload
        self.store = BoundedStore(spec, payload, opening.workspace, PARTS)
        words = Models.words_of(len(spec.streams), reach(spec))
        kept = KeptModels(opening, own, self._make_models, words)
        learning = Learning(spec, kept, own.get("learning"))
        entries = [Layout.of(spec, each).row_bytes for each in self.store.streams]
        sharing = Sharing(opening, own, index_bytes=max(entries))
        shedder = Shedder(self.store, spec.shedding, sharing.now.size, learning)
        known = Completeness.of(opening.directory)
        losses = Losses(spec, known, own.get("losses"))
        self._gone = GoneLog(own.get("gone", ()))
        parts = self.store, learning, shedder, losses, known, sharing
        needed = Needed(spec, own, entries if spec.terms else None)
        self._bounded = Bounded(*parts, needed)
        if kept.forgotten:
            known.note_untold(OTHER_BUDGET, learning.clock_us)

    @classmethod
    def open(cls, opening: Opening) -> BoundedJoin:
        """Open the join from stored state, or begin a new one."""
        directory, workspace = opening.directory, opening.workspace
        if directory is None:
            return cls(opening, Payload(workspace))
        payload = Payload(workspace, directory.segments, directory.next_id)
        join = cls(opening, payload)
        join.store.watermark_ms = directory.watermark_ms
        if opening.opened:
            join.store.open(directory.own)
        else:
            dead = join._gone.places(opening.blobs)
            join.store.restore_without(directory.own, opening.blobs, dead)
        return join

    def _make_models(self, words: IntArray) -> Models:
        shedding = self.spec.shedding
        combine = None if shedding is None else shedding.combine_code
        return Models(
            self.spec.keeps_us,
            reach=reach(self.spec),
            combine=combine,
            lateness_us=self.spec.lateness_us,
            words=words,
        )

    @classmethod
    def adopt(
        cls, opening: Opening, payload: Payload, residents: Iterable[Residents]
    ) -> BoundedJoin:
        """Continue with those residents of another kind of join that fit the budget.

        Models count all of the residents like arrivals. The report of the next step
        counts those that did not fit as shed.
        """
        join = cls(opening, payload)
        _, learning, shedder, losses, known, *_ = join._bounded
        latest = 0
        for stream, rows in residents:
            if rows.num_rows:
                latest = max(latest, join._take_in(stream, rows))
                losses.count(shedder.shed(), learning.clock_us)
        known.note_before(latest)
        return join

    def _take_in(self, stream: int, rows: pa.RecordBatch) -> int:
        """Make rows residents without joining them; return their latest time.

        The matches of these rows with other residents have been found before.
        """
        store, learning, shedder, losses, *_ = self._bounded
        count = rows.num_rows
        rows = numbered(
            rows, losses.next_number + np.arange(count), np.full(count, np.inf)
        )
        losses.next_number += count
        hot = hot_columns(rows, self.spec.streams[stream], direct=self.spec.direct)
        store.insert(stream, rows, hot)
        layout = store.layouts[stream]
        columns = layout.columns(rows, hot, np.arange(count))
        key = counted_keys(self.spec, stream, layout, columns)
        order = np.argsort(hot.time, kind="stable")
        arrived = Arrived(
            np.full(count, stream),
            key[order],
            hot.time[order],
            np.full(count, np.inf),
            shedder.sizes(columns)[order],
        )
        self._bounded.needed.add_rows(stream, arrived.time, rows)
        self._bounded.needed.arrive()
        learning.observe(arrived, BEGINNING_MS, learning.watched(arrived))
        return int(hot.time.max())

    @staticmethod
    def residents(blobs: Blobs, directory: Directory, spec: JoinSpec) -> Residing:
        """Read all stored residents, the oldest segments first."""
        gone = GoneLog(directory.own["gone"]).places(blobs)
        found = residing(blobs, directory, spec, directory.segments, gone)
        for stream, rows in found:
            names = [name for name in rows.schema.names if name not in ADDED]
            yield stream, rows.select(names)

    @staticmethod
    def numbers(directory: Directory) -> list[int]:
        """Numbers of all blobs except the directory."""
        own = directory.own
        return numbers_of(directory, Sharing.parts(own), own["gone"], own["models"])

    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join the arrivals of a micro-batch, shed rows, and drop expired residents."""
        return bounded_step(self._bounded, arrived, watermark_ms)

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write the logs of evicted rows and models; return facts for the directory."""
        _, learning, _, losses, known, sharing, needed = self._bounded
        self._gone.write(self.store, changes)
        return self.store.stored() | {
            "gone": self._gone.parts,
            **learning.kept.write(changes),
            **sharing.write(changes),
            "learning": learning.facts(),
            "losses": losses.facts(),
            **known.facts(),
            **needed.facts(),
        }
