"""Versions of a polled table as a source of Spark: the offset is the version.

The offset also has the identity of the folder, because the same version has other rows
in another folder.

Spark runs this module in processes without a session. They read only the log folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from shedjoin.versions.folder import VersionFolder
from shedjoin.versions.watch import Watch

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # PySpark 4.1: all versions become one micro-batch

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Replaces a class that PySpark 4.1 does not have."""


FORMAT = "shedjoin_polled"
_VERSION, _FOLDER = "version", "folder"
Offset: TypeAlias = dict[str, Any]
_PART_BYTES = 16 << 20


@dataclass(frozen=True)
class Versions(InputPartition):
    """Some versions that one task reads, first and last included."""

    first: int
    last: int


class PolledSource(DataSource):
    """The source; options are the folder and two durations in seconds."""

    @classmethod
    def name(cls) -> str:
        """Name of the source, for ``format()``."""
        return FORMAT

    def streamReader(self, schema: StructType) -> PolledReader:  # noqa: ARG002  (Spark's)
        """Reader of the versions; their files have the schema."""
        return PolledReader(
            self.options["log"],
            float(self.options["stale_after"]),
            float(self.options["timeout"]),
        )


class PolledReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the versions between two offsets, which Spark has logged before."""

    def __init__(self, log: str, stale_after_s: float, timeout_s: float) -> None:
        self._folder = VersionFolder(log)
        self._watch = Watch(self._folder, stale_after_s, timeout_s)
        self._until: int | None = None

    def initialOffset(self) -> Offset:
        """The offset before the first version."""
        return {_VERSION: 0, _FOLDER: self._folder.name}

    def prepareForTriggerAvailableNow(self) -> None:
        """Read up to the present version, and no versions that come later.

        If one source of a query did not have this method, all input of the query would
        become a single micro-batch, including that of other sources.
        """
        self._until = self._watch.version()

    def latestOffset(
        self,
        start: object = None,  # noqa: ARG002  (PySpark 4.1 gives neither, and there
        limit: object = None,  # noqa: ARG002   is no use for them)
    ) -> Offset:
        """The newest version. Waits for the next reading if the last one is too old."""
        until = self._watch.version() if self._until is None else self._until
        return {_VERSION: until, _FOLDER: self._folder.name}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """Ranges of the versions after the start, up to the end."""
        for offset in (start, end):
            self._folder.check_name(offset.get(_FOLDER, ""))
        parts = self._folder.parts(start[_VERSION] + 1, end[_VERSION], _PART_BYTES)
        return [Versions(*part) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Rows of some versions."""
        found: Any = partition
        return self._folder.read(found.first, found.last)
