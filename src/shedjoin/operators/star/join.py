"""The star join of one shard: how it is opened, and what it stores of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shedjoin.columns.arrivals import Blob
from shedjoin.operators.exact.runs import Stored
from shedjoin.operators.frame.gone_log import GoneLog
from shedjoin.operators.frame.join import Opening, Step
from shedjoin.operators.star.step import star_step
from shedjoin.operators.star.store import StarStore
from shedjoin.operators.star.unmixed import Unmixed
from shedjoin.state.blobs import Commit
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload


class StarJoin(Unmixed):
    """Rows of two streams are joined if a relation has both their keys.

    Parameters
    ----------
    store : StarStore
        Residents and relation.
    gone : GoneLog
        Which rows of segments left before their time.
    """

    kind = "star"
    told = "a join through a relation without a budget"
    fix_own = "leave out budget=, or start with a new checkpointLocation."

    def __init__(self, store: StarStore, gone: GoneLog) -> None:
        self.spec = store.spec
        self.store = store
        self.payload = store.payload
        self._gone = gone

    @classmethod
    def open(cls, opening: Opening) -> StarJoin:
        """Open it from stored state, or begin."""
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
            opening.relation,
            opened=opening.opened,
        )
        if opening.relation is not None:
            opening.relation.check(own.get("relation", {}))
        gone = GoneLog(own.get("gone", ()))
        if directory is not None:
            store.watermark_ms = directory.watermark_ms
            if not opening.opened:
                store.restore_without(opening.blobs, gone.places(opening.blobs))
        return cls(store, gone)

    @staticmethod
    def numbers(directory: Directory) -> list[int]:
        """Numbers of all blobs but the directory."""
        own = directory.own
        logs = [*own["gone"], *own["relation"]["ends"]]
        segments = [segment.id for segment in directory.segments]
        return [*segments, *(number for number, _, _ in logs)]

    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join the arrivals of a micro-batch and let go of what has expired."""
        return star_step(self.store, arrived, watermark_ms)

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write who left and what changed; give the part of the directory."""
        store = self.store
        self._gone.write(store, changes)
        return store.stored().facts() | {
            "gone": self._gone.parts,
            "relation": store.relation.write(changes),
        }
