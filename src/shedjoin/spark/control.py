"""Control messages on Spark: a stream of files, and a record of what became of them."""

from __future__ import annotations

import json

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)
from pyspark.sql.streaming.listener import QueryProgressEvent

from shedjoin.control.folder import SUFFIX, Control
from shedjoin.control.record import Record
from shedjoin.errors import ParameterError
from shedjoin.spark.listening import ProgressListener, listen
from shedjoin.spark.wire import PACKED, ControlPacker

_FILE = "path string, modificationTime timestamp, length long, content binary"


def message_rows(
    session: SparkSession, control: Control, numbers: list[int], *, streaming: bool
) -> DataFrame:
    """Messages as packed rows, each for every shard.

    Spark logs which files a micro-batch has read before it runs it: a repeated one
    reads the same.
    """
    if not streaming:
        raise ParameterError(
            "control= steers a running query, and a batch query is over at once.",
            fix="leave control out, and pass budget= and keep=.",
        )
    files = session.readStream.format("binaryFile").schema(_FILE)
    found = files.option("pathGlobFilter", f"*{SUFFIX}").load(str(control.path))
    name = F.element_at(F.split("path", "/"), -1)
    return found.select(name.alias("name"), "content").mapInArrow(
        ControlPacker(numbers), PACKED
    )


def keep_records(session: SparkSession, control: Control, name: str) -> None:
    """Write down beside the messages what every query makes of them.

    One listener is enough for all joins of a session with this name and folder.
    """
    listen(session, ("record", control.path, name), lambda: _Recorder(control, name))


class _Recorder(ProgressListener):
    """Takes the record out of a query's progress.

    A driver that dies before it is told loses nothing: the state has the record, and
    the next micro-batch tells it again.
    """

    def __init__(self, control: Control, name: str) -> None:
        self._control = control
        self._name = name
        self._noted: dict[str, str] = {}

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Note what is new; most micro-batches tell what the one before told."""
        counts = event.progress.observedMetrics.get(self._name)
        told = None if counts is None else counts.asDict().get("control")
        join = f"{event.progress.id}-{self._name}"
        if told and told != self._noted.get(join):
            record = Record.of(json.loads(told))
            if record.entries:
                self._control.note(join, list(record.entries))
            self._noted[join] = told
