"""The folder with the versions of a table, as readers see it.

====================  =========================================================
``N.arrow``           rows that version N inserted and deleted; N has 20 digits
``_table.json``       description of the table; written once
``_observed.json``    time of the last reading, and the version that it found
``_failure.json``     error of the last reading that failed
``_snapshots``        all rows as of some version, so that a writer starts fast
``_lock``             lock that the writer holds
====================  =========================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import uuid4

import pyarrow as pa

from shedjoin.errors import ParameterError, VersionLogError
from shedjoin.versions import files

SUFFIX = ".arrow"
SNAPSHOTS = "_snapshots"
LOCK = "_lock"
FORMAT = 1
_TABLE, _OBSERVED, _FAILURE = "_table.json", "_observed.json", "_failure.json"

Begin = Literal["always", "observed"]


@dataclass(frozen=True, slots=True)
class Description:
    """A table with versions: its columns, and the two columns that are added to them.

    ``folder`` identifies the folder: a new folder at the same place has another value.
    """

    schema: Any
    change: str
    at: str
    begin: Begin
    folder: str = ""


class Observation(NamedTuple):
    """A reading of the table: the version found, its time, and the clock's time.

    ``at_us`` only increases, even if the clock goes back.
    """

    version: int
    at_us: int
    clock_us: int


class VersionFolder:
    """Versions of one table.

    Parameters
    ----------
    path : str or Path
        The folder. If it does not exist, it is created.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        (self.path / SNAPSHOTS).mkdir(parents=True, exist_ok=True)

    def sweep(self) -> None:
        """Remove unfinished files; there must be no other writer."""
        for ending in (SUFFIX, _OBSERVED, _FAILURE):
            files.sweep(self.path, ending)
        files.sweep(self.path / SNAPSHOTS, SUFFIX)

    def version(self, number: int) -> Path:
        """The file of a version."""
        return self.path / f"{number:020d}{SUFFIX}"

    def snapshot(self, number: int) -> Path:
        """The file of all rows as of a version."""
        return self.path / SNAPSHOTS / f"{number:020d}{SUFFIX}"

    def last(self) -> int:
        """Number of the newest version, by file names alone; 0 if there is none."""
        return max(_numbers(self.path), default=0)

    def snapshots(self) -> list[int]:
        """Versions that have a snapshot, the oldest first."""
        return sorted(_numbers(self.path / SNAPSHOTS))

    def describe(self, description: Description) -> Description:
        """Store the description of the table, or return the one that is stored already.

        A later description may differ in its columns. The next reading checks them.
        """
        known = self.description()
        if known is None:
            begun = replace(description, folder=uuid4().hex)
            said = json.dumps({"format": FORMAT, **asdict(begun)}).encode()
            with suppress(FileExistsError):
                files.publish(self.path / _TABLE, lambda file: file.write(said))
            return self.describe(description)
        for name in ("change", "at", "begin"):
            wanted, found = getattr(description, name), getattr(known, name)
            if wanted != found:
                raise ParameterError(
                    f"{name}={wanted!r}, but {self.path} was begun with {found!r}.",
                    fix=f"pass {name}={found!r}, or another log folder.",
                )
        return known

    def description(self) -> Description | None:
        """Description of the table; None in a new folder."""
        found = _read(self.path / _TABLE)
        if found is None:
            return None
        if (number := found.pop("format")) != FORMAT:
            raise VersionLogError(
                f"{self.path} has format {number}, this version reads {FORMAT}.",
                fix="use the version of shedjoin that wrote it, or another folder.",
            )
        return Description(**found)

    @property
    def name(self) -> str:
        """Identity of this folder; empty for a new folder."""
        known = self.description()
        return "" if known is None else known.folder

    def check_name(self, known: str) -> None:
        """Raise if ``known`` is not empty, and is not the identity of this folder."""
        if known and known != self.name:
            raise VersionLogError(
                f"{self.path} is not the folder that the checkpoint goes on from: it "
                "was removed and begun anew, or replaced, and its versions are others.",
                fix="put the former folder back; or begin anew with another folder and "
                "a new checkpointLocation.",
            )

    def observed(self) -> Observation | None:
        """The last reading of the table; None if there is no complete record of it."""
        found = _read(self.path / _OBSERVED)
        return None if found is None else Observation(**found)

    def note(self, observation: Observation) -> None:
        """Record a reading of the table."""
        said = json.dumps(observation._asdict()).encode()
        files.replace(self.path / _OBSERVED, lambda file: file.write(said))

    def failure(self) -> str:
        """Error since the last reading that succeeded; empty if there is none."""
        found, observed = _read(self.path / _FAILURE), self.observed()
        if found is None or (observed and found["after_us"] < observed.at_us):
            return ""
        return str(found["problem"])

    def note_failure(self, problem: str) -> None:
        """Record why the table could not be read."""
        observed = self.observed()
        after_us = 0 if observed is None else observed.at_us
        said = json.dumps({"after_us": after_us, "problem": problem}).encode()
        files.replace(self.path / _FAILURE, lambda file: file.write(said))

    def read(self, first: int, last: int) -> Iterator[pa.RecordBatch]:
        """Changes of some versions, first and last included."""
        for number in range(first, last + 1):
            with pa.memory_map(str(self.found(number))) as file:
                yield from pa.ipc.open_stream(file)

    def found(self, number: int) -> Path:
        """The file of a version; raise if it is missing."""
        path = self.version(number)
        if not path.exists():
            raise VersionLogError(
                f"version {number} of the table is missing: there is no {path}.",
                fix="put the folder back as it was, or start the query with another "
                "log= and a new checkpointLocation.",
            )
        return path

    def parts(self, first: int, last: int, part_bytes: int) -> list[tuple[int, int]]:
        """Ranges of versions of about ``part_bytes``, first and last included."""
        found: list[tuple[int, int]] = []
        size = part_bytes
        for number in range(first, last + 1):
            own = self.found(number).stat().st_size
            if size + own > part_bytes:
                found.append((number, number))
                size = own
            else:
                found[-1] = (found[-1][0], number)
                size += own
        return found


def _numbers(folder: Path) -> list[int]:
    names = (path.stem for path in folder.glob(f"[0-9]*{SUFFIX}"))
    return [int(name) for name in names if name.isdigit()]


def _read(path: Path) -> Any:  # noqa: ANN401  (any JSON)
    """Read a file, if it exists and was not cut off by a power failure."""
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
