"""The join of several streams or by predicates under a memory budget, of one shard.

Rows lie in segments, as without a budget. Logs beside them say which rows of segments
have left, and what the models have learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Blob
from shedjoin.columns.hot import hot_columns
from shedjoin.columns.schema import as_stored
from shedjoin.errors import ParameterError
from shedjoin.kernels.ranges import TIME
from shedjoin.models.several import SeveralModels
from shedjoin.operators.frame.gone_log import GoneLog
from shedjoin.operators.frame.join import (
    BEGINNING_MS,
    Opening,
    Residents,
    Residing,
    Step,
)
from shedjoin.operators.frame.missing import Missing
from shedjoin.operators.frame.models_log import ModelsLog
from shedjoin.operators.multiway.bounded_step import Bounded, bounded_step
from shedjoin.operators.multiway.bounded_store import BoundedStore
from shedjoin.operators.multiway.counted import counted_keys, reach
from shedjoin.operators.multiway.layout import ADDED, NUMBER, numbered
from shedjoin.operators.multiway.learning import Arrived, Learning
from shedjoin.operators.multiway.losses import Losses
from shedjoin.operators.multiway.shedder import TYPICAL_ROW_BYTES, Shedder, usable
from shedjoin.operators.multiway.windows import PARTS
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs, Commit, load_segment
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload, row_of, segment_of
from shedjoin.types import IntArray

_MODELS = "models"


class BoundedJoin:
    """Residents of all streams compete for room.

    Parameters
    ----------
    opening : Opening
        What it starts from.
    payload : Payload
        Rows of the residents.
    """

    kind = "bounded"

    def __init__(self, opening: Opening, payload: Payload) -> None:
        spec, own = opening.spec, {}
        if opening.directory is not None and opening.directory.kind == self.kind:
            own = opening.directory.own
        if spec.shedding is None:
            raise ParameterError("this join has no budget.", fix="pass budget=.")
        self.spec = spec
        self.payload = payload
        self.store = BoundedStore(spec, payload, opening.workspace, PARTS)
        budget = spec.shedding.budget
        unit = TYPICAL_ROW_BYTES if budget.in_bytes else 1
        rows = usable(budget, opening.shard, spec.shards) // unit
        self._words, self._learned = _models(opening, own, rows)
        # Models of another size begin anew, and so does their clock.
        self._known = own.get("model_words") == self._words.size
        facts = own.get("learning") if self._known else None
        learning = Learning(spec, self._words, rows, facts)
        shedder = Shedder(self.store, spec.shedding, opening.shard, learning)
        losses = Losses(spec, own.get("losses"))
        self._gone = GoneLog(own.get("gone", ()))
        self._bounded = Bounded(self.store, learning, shedder, losses)

    @classmethod
    def open(cls, opening: Opening) -> BoundedJoin:
        """Open it from stored state, or begin."""
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
        if not join._known:
            join._learn_again()
        return join

    def _learn_again(self) -> None:
        """Learn from residents as if they arrived; of who left nothing is known."""
        store, learning, _, losses = self._bounded
        losses.untold_us = losses.lost_us
        grids = [windows.rows() for windows in store.windows]
        stream = np.repeat(store.streams, [grid.shape[1] for grid in grids])
        if not stream.size:
            return
        keys = [
            counted_keys(self.spec, number, store.layouts[number], grid)
            for number, grid in enumerate(grids)
        ]
        time = np.concatenate([grid[TIME] for grid in grids])
        order = np.lexsort((np.concatenate([grid[NUMBER] for grid in grids]), time))
        arrived = Arrived(stream, np.concatenate(keys), time)
        learning.observe(Arrived(*(each[order] for each in arrived)), BEGINNING_MS)

    @classmethod
    def adopt(
        cls, opening: Opening, payload: Payload, residents: Iterable[Residents]
    ) -> BoundedJoin:
        """Go on with the residents of another kind of join, as far as there is room.

        They are learned from as arrivals are. Who finds no room is counted by the next
        step.
        """
        join = cls(opening, payload)
        _, learning, shedder, losses = join._bounded
        latest = 0
        for stream, rows in residents:
            if rows.num_rows:
                latest = max(latest, join._take_in(stream, rows))
                losses.count(shedder.shed(), learning.clock_us)
        before = Missing.of(opening.directory)
        if before.shed:
            losses.shed, known = True, before.until_us
            losses.lost_us = losses.untold_us = latest if known is None else known
        return join

    def _take_in(self, stream: int, rows: pa.RecordBatch) -> int:
        """Make rows residents that have met all others; tell the latest time."""
        store, learning, _, losses = self._bounded
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
        same = np.full(count, stream)
        learning.observe(Arrived(same, key[order], hot.time[order]), BEGINNING_MS)
        return int(hot.time.max())

    @staticmethod
    def residents(blobs: Blobs, directory: Directory, spec: JoinSpec) -> Residing:
        """Read all residents as stored, the oldest segments first."""
        dead = GoneLog(directory.own["gone"]).places(blobs)
        for segment in directory.segments:
            own = spec.streams[segment.stream]
            rows = as_stored(load_segment(blobs, segment.id))
            time = hot_columns(rows, own, direct=spec.direct).time
            horizon = spec.expired_us(segment.stream, directory.watermark_ms)
            alive = time > horizon
            alive[row_of(dead[segment_of(dead) == segment.id])] = False
            names = [name for name in rows.schema.names if name not in ADDED]
            yield segment.stream, rows.select(names).filter(pa.array(alive))

    @staticmethod
    def numbers(directory: Directory) -> list[int]:
        """Numbers of all blobs but the directory."""
        segments = [segment.id for segment in directory.segments]
        logs = [*directory.own["gone"], *directory.own["models"]]
        return [*segments, *(number for number, _, _ in logs)]

    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join the arrivals of a micro-batch, shed, and let go of what has expired."""
        return bounded_step(self._bounded, arrived, watermark_ms)

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write who left, and what was learned; give the part of the directory."""
        _, learning, _, losses = self._bounded
        self._gone.write(self.store, changes)
        self._learned.write(self._words, changes)
        return self.store.stored() | {
            "gone": self._gone.parts,
            "models": self._learned.parts,
            "model_words": self._words.size,
            "learning": learning.facts(),
            "losses": losses.facts(),
            "shed": losses.shed,
            "shed_us": losses.lost_us,
        }


def _models(
    opening: Opening, own: dict[str, Any], rows: int
) -> tuple[IntArray, ModelsLog]:
    """What the models have learned, and its stored form; of another size, nothing."""
    workspace = opening.workspace
    spec = opening.spec
    size = SeveralModels.words_within(rows, len(spec.streams), reach(spec))
    parts = own.get("models", ())
    if own.get("model_words") != size:
        return workspace.new_array(_MODELS, size), ModelsLog(parts)
    if opening.opened:
        words = workspace.array(_MODELS)
        return words, ModelsLog(parts, words)
    words, learned = workspace.new_array(_MODELS, size), ModelsLog(parts)
    learned.restore(words, opening.blobs)
    return words, learned
