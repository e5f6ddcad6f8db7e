"""Writes the versions of a table.

A version exists when its file has its final name. All else can be restored from these
files. So a writer may be killed between any two steps, and the next writer continues.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from typing import NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.errors import ColumnTypeError, VersionLogError
from shedjoin.versions import files
from shedjoin.versions.folder import LOCK, Observation, VersionFolder
from shedjoin.versions.rows import Changes, changed, plain, replayed

INSERT, DELETE = "insert", "delete"
_AT = b"shedjoin.at_us"
_STORED = pa.ipc.IpcWriteOptions(compression="lz4")
_BATCH_ROWS = 16_384
_SNAPSHOT_ROWS, _SNAPSHOT_VERSIONS = 1_000, 1_000
"""A snapshot is due when as many rows have changed as the table has, and at least the
first number. It is also due after the second number of versions, however small."""
_TIME = pa.timestamp("us", "UTC")


class _Held(NamedTuple):
    """The newest version, as the writer holds it in memory."""

    version: int
    at_us: int
    rows: pa.Table
    since_snapshot: int
    snapshot: int


class VersionLog:
    """Writer of versions. A folder has one writer at a time, over all processes.

    Parameters
    ----------
    folder : VersionFolder
        A folder with a description.

    Examples
    --------
    >>> import tempfile
    >>> from shedjoin.versions.folder import Description
    >>> with tempfile.TemporaryDirectory() as path:
    ...     folder = VersionFolder(path)
    ...     told = folder.describe(Description({}, "change", "at", "always"))
    ...     log = VersionLog.acquire(folder)
    ...     versions = [
    ...         log.observe(pa.table({"ad": ads}), clock_us=0).version
    ...         for ads in ([1, 2], [2, 1], [2, 3])
    ...     ]
    ...     (changes,) = folder.read(2, 2)
    ...     log.close()
    >>> versions
    [1, 1, 2]
    >>> changes["ad"].to_pylist(), changes["change"].to_pylist()
    ([1, 3], ['delete', 'insert'])
    """

    lead_us = 0
    """Delay between detecting a change and applying it."""
    clock: Callable[[], int] | None = None
    """Gives the time at which changes are detected. It is later than the time of the
    reading, since comparing a large table takes a while. If None, both are equal."""

    def __init__(self, folder: VersionFolder) -> None:
        self.folder = folder
        description = folder.description()
        if description is None:
            raise VersionLogError(
                f"{folder.path} does not say what its versions are of.",
                fix="call describe() first.",
            )
        self._description = description
        self._held: _Held | None = None
        self._last_read: pa.Table | None = None
        self._lock = os.open(folder.path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)

    @classmethod
    def acquire(cls, folder: VersionFolder) -> Self | None:
        """Become the writer of a folder; None if it has another writer."""
        log = cls(folder)
        try:
            fcntl.flock(log._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.close()
            return None
        folder.sweep()
        return log

    def close(self) -> None:
        """Release the folder for another writer."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def observe(self, table: pa.Table, clock_us: int) -> Observation:
        """Compare a reading with the last version; changes become a new version."""
        held, known = self._held or self._restored(), self._last_read
        if held is not None and known is not None and table.equals(known):
            return self._note(held, clock_us)
        self._held = self._last_read = None  # if a step fails, files are read again
        rows = plain(table)
        held = self._first(rows, clock_us) if held is None else held
        self._check_columns(held.rows.schema, rows.schema)
        changes = changed(held.rows, rows)
        if changes.rows:
            held = self._next(held, changes, rows, clock_us)
        self._last_read = table
        return self._note(held, clock_us)

    def _first(self, rows: pa.Table, clock_us: int) -> _Held:
        observed = self._description.begin == "observed"
        begin = clock_us + self.lead_us if observed else None
        self._publish(1, changed(rows.slice(0, 0), rows), clock_us, begin)
        return _Held(1, clock_us, rows, since_snapshot=0, snapshot=0)

    def _next(
        self, held: _Held, changes: Changes, rows: pa.Table, clock_us: int
    ) -> _Held:
        observed = self.folder.observed()
        last_us = max(held.at_us, observed.at_us if observed else 0)
        found_us = clock_us if self.clock is None else self.clock()
        version, at_us = held.version + 1, max(clock_us, found_us, last_us + 1)
        self._publish(version, changes, at_us, at_us + self.lead_us)
        since = held.since_snapshot + changes.rows
        return _Held(version, at_us, rows, since, held.snapshot)

    def _publish(
        self, version: int, changes: Changes, at_us: int, shown_us: int | None
    ) -> None:
        table = pa.concat_tables(
            [
                self._labelled(changes.went, DELETE, shown_us),
                self._labelled(changes.came, INSERT, shown_us),
            ]
        )
        schema = table.schema.with_metadata({_AT: str(at_us).encode()})
        path = self.folder.version(version)
        try:
            files.publish(path, lambda file: _write(file, table.cast(schema)))
        except FileExistsError:
            raise VersionLogError(
                f"somebody else has written {path}.",
                fix="let only one driver at a time poll into a folder whose file "
                "system has no locks.",
            ) from None

    def _labelled(self, rows: pa.Table, change: str, at_us: int | None) -> pa.Table:
        said = pa.repeat(pa.scalar(change), len(rows))
        time = pa.repeat(pa.scalar(at_us, _TIME), len(rows))
        rows = rows.append_column(self._description.change, said)
        return rows.append_column(self._description.at, time)

    def _note(self, held: _Held, clock_us: int) -> Observation:
        self._held = None
        held = self._with_snapshot(held)
        observed = self.folder.observed()
        last_us = max(held.at_us, observed.at_us + 1 if observed else 0)
        observation = Observation(held.version, max(clock_us, last_us), clock_us)
        self.folder.note(observation)
        self._held = held
        return observation

    def _with_snapshot(self, held: _Held) -> _Held:
        due = max(len(held.rows), _SNAPSHOT_ROWS)
        many = held.version - held.snapshot >= _SNAPSHOT_VERSIONS
        if held.since_snapshot < due and not many:
            return held
        path = self.folder.snapshot(held.version)
        files.replace(path, lambda file: _write(file, held.rows))
        for number in self.folder.snapshots()[:-1]:
            self.folder.snapshot(number).unlink(missing_ok=True)
        return held._replace(since_snapshot=0, snapshot=held.version)

    def _restored(self) -> _Held | None:
        """The newest version, from the newest snapshot and the versions after it."""
        last = self.folder.last()
        if not last:
            return None
        snapshot = max(self.folder.snapshots(), default=0)
        later = [self._version(n) for n in range(snapshot + 1, last + 1)]
        if snapshot:
            first = _table(self.folder.snapshot(snapshot))
        else:
            first = later.pop(0).came
        at_us = int(_schema(self.folder.found(last)).metadata[_AT])
        since = sum(changes.rows for changes in later)
        return _Held(last, at_us, replayed(first, later), since, snapshot)

    def _version(self, number: int) -> Changes:
        table = _table(self.folder.found(number)).replace_schema_metadata()
        came = pc.equal(table[self._description.change], INSERT)
        rows = table.drop_columns([self._description.change, self._description.at])
        return Changes(rows.filter(came), rows.filter(pc.invert(came)))

    def _check_columns(self, known: pa.Schema, found: pa.Schema) -> None:
        if not found.equals(known):
            raise ColumnTypeError(
                f"the table now has {_said(found)}, its versions have {_said(known)}.",
                fix="let read() select and cast the columns that it had, or use "
                "another log= and a new checkpointLocation.",
            )


def _said(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)


def _write(file: object, table: pa.Table) -> None:
    with pa.ipc.new_stream(file, table.schema, options=_STORED) as writer:
        writer.write_table(table.combine_chunks(), max_chunksize=_BATCH_ROWS)


def _table(path: os.PathLike[str]) -> pa.Table:
    with pa.ipc.open_stream(pa.memory_map(str(path))) as reader:
        return reader.read_all()


def _schema(path: os.PathLike[str]) -> pa.Schema:
    with pa.ipc.open_stream(pa.memory_map(str(path))) as reader:
        return reader.schema
