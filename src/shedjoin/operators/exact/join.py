"""The exact join of one shard: opens its state, runs its steps, writes its facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import pyarrow as pa

from shedjoin.columns.arrivals import Blob, Chunk
from shedjoin.columns.hot import hot_columns
from shedjoin.operators.exact.matches import joined_rows
from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.completeness import Completeness
from shedjoin.operators.frame.join import Opening, Residents, Residing, Step
from shedjoin.operators.frame.reading import numbers_of, residing
from shedjoin.operators.frame.runs import Stored
from shedjoin.operators.frame.step import windowed_step
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload


class ExactJoin:
    """The join of one shard that keeps every row until it expires.

    Parameters
    ----------
    store : WindowStore
        The residents.
    completeness : Completeness
        Whether rows were shed before. If this join continues a join with a budget, the
        rows that were shed there are missing.
    """

    kind = "exact"
    makes: type[WindowStore] = WindowStore
    """Class of the store."""

    def __init__(self, store: WindowStore, completeness: Completeness) -> None:
        self.spec = store.spec
        self.store = store
        self.payload = store.payload
        self._completeness = completeness

    @classmethod
    def open(cls, opening: Opening) -> Self:
        """Open the join from stored state, or begin a new one."""
        directory, workspace = opening.directory, opening.workspace
        if directory is None:
            return cls._begin(opening, Payload(workspace), Completeness())
        payload = Payload(workspace, directory.segments, directory.next_id)
        store = cls.makes(
            *(opening.spec, payload, workspace, Stored.of(directory)),
            opened=opening.opened,
        )
        store.watermark_ms = directory.watermark_ms
        if not opening.opened:
            store.restore(opening.blobs)
        return cls(store, Completeness.of(directory))

    @classmethod
    def adopt(
        cls, opening: Opening, payload: Payload, residents: Iterable[Residents]
    ) -> Self:
        """Continue with the residents of another kind of join."""
        join = cls._begin(opening, payload, Completeness.of(opening.directory))
        for stream, rows in residents:
            own = opening.spec.streams[stream]
            hot = hot_columns(rows, own, direct=opening.spec.direct)
            join.store.insert(stream, rows, hot)
        return join

    @classmethod
    def _begin(
        cls, opening: Opening, payload: Payload, completeness: Completeness
    ) -> Self:
        ends = (0,) * len(opening.spec.streams)
        stored = Stored((), ends, opening.seed)
        store = cls.makes(opening.spec, payload, opening.workspace, stored)
        return cls(store, completeness)

    @staticmethod
    def residents(blobs: Blobs, directory: Directory, spec: JoinSpec) -> Residing:
        """Read all stored residents, the oldest first."""
        segments = Stored.of(directory).oldest_first
        return residing(blobs, directory, spec, segments)

    @staticmethod
    def numbers(directory: Directory) -> list[int]:
        """Numbers of all blobs except the directory."""
        return numbers_of(directory)

    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join the arrivals of a micro-batch and remove expired residents."""
        step = self._step(arrived, watermark_ms)
        horizon_us = self.spec.all_expired_us(self.store.watermark_ms)
        return self._completeness.of_whole(step, horizon_us)

    def _step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        return windowed_step(self.store, self._taken_in, arrived, watermark_ms)

    def _taken_in(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """Join arrivals with residents of other streams, then store the arrivals."""
        yield from joined_rows(self.store, chunk)
        self.store.insert(chunk.stream, chunk.rows, chunk.hot)

    def write(self, changes: Commit) -> dict[str, Any]:
        """Return facts for the directory. The index is not stored: rows restore it."""
        del changes
        return self.store.stored().facts() | self._completeness.facts()
