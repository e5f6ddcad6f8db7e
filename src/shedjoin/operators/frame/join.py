"""The protocol that engines use: a join is opened, stepped and committed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeAlias

import pyarrow as pa

from shedjoin.columns.arrivals import Blob
from shedjoin.spec.report import Report
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import DIRECTORY, FACTS, Blobs, Commit
from shedjoin.state.directory import (
    Directory,
    decode_directory,
    encode_directory,
    with_token,
)
from shedjoin.state.payload import Payload
from shedjoin.state.workspace import Workspace

BEGINNING_MS = -(1 << 52)
"""A watermark before all times, for runs in which nothing is late."""

_P = ParamSpec("_P")
Running: TypeAlias = Generator[pa.RecordBatch, None, Report]
"""Body of a step: it yields joined rows batch by batch, and returns the report."""


class Step:
    """The joined rows of one micro-batch as an iterator, and then the report.

    The state of the join is complete only when all results were taken.

    Parameters
    ----------
    running : generator
        Yields the results and returns the report.
    """

    def __init__(self, running: Running) -> None:
        self._running = running
        self._report: Report | None = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the results that were not taken yet."""
        return self

    def __next__(self) -> pa.RecordBatch:
        """Give the next batch of joined rows."""
        try:
            return next(self._running)
        except StopIteration as end:
            self._report = self._report or end.value
            raise

    @property
    def report(self) -> Report:
        """Counts of the micro-batch; raise if there may be more results."""
        if self._report is None:
            raise RuntimeError(
                "the report of a step was asked for before all of its results were "
                "taken. Iterate over the step first."
            )
        return self._report


def as_step(run: Callable[_P, Running]) -> Callable[_P, Step]:
    """Make a function whose body is that of a step return a :class:`Step`."""

    @wraps(run)
    def begin(*args: _P.args, **kwargs: _P.kwargs) -> Step:
        return Step(run(*args, **kwargs))

    return begin


Residents: TypeAlias = tuple[int, pa.RecordBatch]
"""Rows of one stream that can still be matched."""
Residing: TypeAlias = Iterator[Residents]


class GivenRelation(Protocol):
    """A relation that does not change. It comes with the join and is not stored."""

    def check(self, own: dict[str, Any]) -> None:
        """Raise if stored rows came while the relation was another one."""


class Opening(NamedTuple):
    """What a join of one shard starts from.

    ``directory`` is None if there is no state yet. Then ``seed`` is used for the
    buckets of the hash index. If ``opened``, the workspace already holds the state.
    Otherwise the state is decoded from the blobs. A ``relation`` that does not change
    is not a part of the state.
    """

    spec: JoinSpec
    shard: int
    blobs: Blobs
    directory: Directory | None
    workspace: Workspace
    seed: int = 0
    opened: bool = False
    relation: GivenRelation | None = None


class Store(Protocol):
    """The residents of one shard, and the watermark of the last micro-batch."""

    watermark_ms: int


class Join(Protocol):
    """The join of one shard."""

    spec: JoinSpec
    kind: str
    payload: Payload

    @property
    def store(self) -> Store:
        """The residents."""

    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join the arrivals of a micro-batch and remove what has expired."""

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write the join's own blobs; return its own part of the directory."""


class Outcome(NamedTuple):
    """What a micro-batch yields, collected: joined rows and the report."""

    results: list[pa.RecordBatch]
    report: Report

    @staticmethod
    def of(step: Step, *, collect: bool = True) -> Outcome:
        """Run a whole step and collect what it yields, or only its report."""
        results = [batch for batch in step if collect]
        return Outcome(results, step.report)


def stored_directory(blobs: Blobs, spec: JoinSpec) -> Directory | None:
    """Read the directory, or None if the shard has no state yet."""
    blob = blobs.get(DIRECTORY)
    if blob is None:
        return None
    return decode_directory(blob, spec.identity(), lambda: blobs.get(FACTS))


def commit(
    join: Join, blobs: Blobs, former: str, control: dict[str, Any] | None = None
) -> tuple[str, int]:
    """Write what a micro-batch changed; return the new token and the bytes written.

    ``control`` is the record of control messages.
    """
    changes = Commit(blobs, former)
    if not former:
        changes.put(FACTS, join.spec.identity().facts.encode())
    join.payload.write(changes)
    directory = Directory(
        segments=tuple(join.payload.segments.values()),
        next_id=join.payload.next_id,
        watermark_ms=join.store.watermark_ms,
        kind=join.kind,
        own=join.write(changes),
        control=control or {},
    )
    token = _put_directory(directory, join.spec, changes)
    join.payload.settle()
    return token, changes.written_bytes


def pass_time(
    directory: Directory,
    spec: JoinSpec,
    blobs: Blobs,
    watermark_ms: int,
    control: dict[str, Any],
) -> int:
    """Move the watermark of a state without rows; return the bytes written."""
    changes = Commit(blobs, directory.token)
    watermark_ms = max(watermark_ms, directory.watermark_ms)
    moved = directory._replace(watermark_ms=watermark_ms, control=control)
    if moved != directory:
        _put_directory(moved, spec, changes)
    return changes.written_bytes


def _put_directory(directory: Directory, spec: JoinSpec, changes: Commit) -> str:
    blob = encode_directory(directory, spec.fingerprint())
    token = changes.token(blob)
    changes.put(DIRECTORY, with_token(token, blob))
    return token
