"""The interface between engines and joins: open a join, run a step, commit it.

The *directory* of a shard is all of its stored state except the rows and the logs.
"""

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
"""A watermark before all event times, for runs in which no row is late."""

END_MS = 1 << 52
"""A watermark after all event times, for the end of a run."""

_P = ParamSpec("_P")
Running: TypeAlias = Generator[pa.RecordBatch, None, Report]
"""Body of a step: it yields joined rows batch by batch, and returns the report."""


class Step:
    """The joined rows of one micro-batch as an iterator, and then the report.

    The state of the join is complete only after the last result was taken.

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
        """Return the next batch of joined rows."""
        try:
            return next(self._running)
        except StopIteration as end:
            self._report = self._report or end.value
            raise

    @property
    def report(self) -> Report:
        """Counts of the micro-batch; raise unless all results were taken."""
        if self._report is None:
            raise RuntimeError(
                "the report of a step was read before the last of its results was "
                "taken. Iterate over the step first."
            )
        return self._report


def as_step(run: Callable[_P, Running]) -> Callable[_P, Step]:
    """Decorate a generator function, so that it returns a :class:`Step`."""

    @wraps(run)
    def begin(*args: _P.args, **kwargs: _P.kwargs) -> Step:
        return Step(run(*args, **kwargs))

    return begin


Residents: TypeAlias = tuple[int, pa.RecordBatch]
"""The number of a stream, and rows of it that can still be matched."""
Residing: TypeAlias = Iterator[Residents]


class GivenRelation(Protocol):
    """A relation that does not change. It comes with the join and is not stored."""

    def check(self, own: dict[str, Any]) -> None:
        """Raise if ``own``, the stored facts, were written under another relation."""


class Opening(NamedTuple):
    """Everything from which the join of one shard is opened.

    If there is no state yet, ``directory`` is None, and ``seed`` becomes the seed of
    the hash index. If ``opened`` is true, the workspace already holds the decoded
    state. Otherwise, the state is decoded from ``blobs``. ``relation`` is a relation
    that does not change, and is not a part of the state.
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
        """Join the arrivals of a micro-batch and remove expired residents."""

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write the join's own blobs; return its own part of the directory."""


class Outcome(NamedTuple):
    """The joined rows of a micro-batch in a list, and its report."""

    results: list[pa.RecordBatch]
    report: Report

    @staticmethod
    def of(step: Step, *, collect: bool = True) -> Outcome:
        """Run a whole step; collect its results, unless only the report is needed."""
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
    """Write the changes of a micro-batch; return the new token and the bytes written.

    ``former`` is the token of the state before, or empty if there was none. ``control``
    is the record of control messages.
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
    """Advance the watermark of a state without opening it; return the bytes written.

    The state must have no rows. If nothing has changed, no bytes are written.
    """
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
