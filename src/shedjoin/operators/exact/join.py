"""The exact join of one shard: how it is opened, and what it stores of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shedjoin.columns.arrivals import Blob
from shedjoin.operators.exact.runs import Run, Stored
from shedjoin.operators.exact.step import exact_step
from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.join import Opening, Step
from shedjoin.state.blobs import Commit
from shedjoin.state.payload import Payload


class ExactJoin:
    """Nobody leaves before its time.

    Parameters
    ----------
    store : WindowStore
        The residents.
    """

    kind = "exact"

    def __init__(self, store: WindowStore) -> None:
        self.spec = store.spec
        self.store = store
        self.payload = store.payload

    @classmethod
    def open(cls, opening: Opening) -> ExactJoin:
        """Open it from stored state, or begin."""
        spec, directory, workspace = (
            opening.spec,
            opening.directory,
            opening.workspace,
        )
        if directory is None:
            stored = Stored((), (0,) * len(spec.streams), opening.seed)
            return cls(WindowStore(spec, Payload(workspace), workspace, stored))
        payload = Payload(workspace, directory.segments, directory.next_id)
        own = directory.own
        runs = tuple(
            Run(payload.segments[number], *run) for number, *run in own["runs"]
        )
        stored = Stored(runs, tuple(own["ends"]), own["seed"])
        store = WindowStore(spec, payload, workspace, stored, opened=opening.opened)
        store.watermark_ms = directory.watermark_ms
        if not opening.opened:
            store.restore(opening.blobs)
        return cls(store)

    @property
    def watermark_ms(self) -> int:
        """The watermark of the last micro-batch."""
        return self.store.watermark_ms

    @watermark_ms.setter
    def watermark_ms(self, value: int) -> None:
        self.store.watermark_ms = value

    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join the arrivals of a micro-batch and let go of what has expired."""
        return exact_step(self.store, arrived, watermark_ms)

    def write(self, changes: Commit) -> dict[str, Any]:
        """Give the part of the directory; the index follows from the rows."""
        del changes
        store = self.store
        return {
            "runs": [[run.segment.id, *run[1:]] for runs in store.runs for run in runs],
            "ends": [ring.end for ring in store.rings],
            "seed": store.seed,
        }
