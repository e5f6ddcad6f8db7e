"""The join of one shard by predicates: how it is opened, and what it stores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from shedjoin.columns.arrivals import Blob
from shedjoin.operators.frame.join import Opening, Step
from shedjoin.operators.frame.step import windowed_step
from shedjoin.operators.multiway.hops import joined_rows
from shedjoin.operators.multiway.store import MultiwayStore
from shedjoin.state.blobs import Commit
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload


class MultiwayJoin:
    """Rows meet by predicates; nobody leaves before its time.

    Parameters
    ----------
    store : MultiwayStore
        The residents.
    """

    kind = "multiway"

    def __init__(self, store: MultiwayStore) -> None:
        self.spec = store.spec
        self.store = store
        self.payload = store.payload

    @classmethod
    def open(cls, opening: Opening) -> MultiwayJoin:
        """Open it from stored state, or begin."""
        directory, workspace = opening.directory, opening.workspace
        if directory is None:
            return cls(MultiwayStore(opening.spec, Payload(workspace), workspace))
        payload = Payload(workspace, directory.segments, directory.next_id)
        store = MultiwayStore(opening.spec, payload, workspace)
        store.watermark_ms = directory.watermark_ms
        if opening.opened:
            store.open(directory.own)
        else:
            store.restore(directory.own, opening.blobs)
        return cls(store)

    @staticmethod
    def numbers(directory: Directory) -> list[int]:
        """Numbers of all blobs but the directory."""
        return [segment.id for segment in directory.segments]

    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join the arrivals of a micro-batch and let go of what has expired."""
        joined = partial(joined_rows, self.store)
        return windowed_step(self.store, joined, arrived, watermark_ms)

    def write(self, changes: Commit) -> dict[str, Any]:
        """Give the part of the directory; the tiers follow from the rows."""
        del changes
        return self.store.stored()
