"""Control messages on Spark: reads them as a stream, and records their effects."""

from __future__ import annotations

import json
import logging
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)
from pyspark.sql.streaming.listener import StreamingQueryProgress

from shedjoin.control.folder import SUFFIX, Control
from shedjoin.control.record import Record
from shedjoin.spark.listening import ProgressListener, listen
from shedjoin.spark.wire import PACKED, ControlPacker

log = logging.getLogger("shedjoin")

_FILE = "path string, modificationTime timestamp, length long, content binary"


def message_rows(
    session: SparkSession, control: Control, numbers: list[int]
) -> DataFrame:
    """Messages as packed rows: every shard gets each message.

    Before Spark runs a micro-batch, it logs which files the micro-batch reads. So a
    repeated micro-batch reads the same files.
    """
    files = session.readStream.format("binaryFile").schema(_FILE)
    found = files.option("pathGlobFilter", f"*{SUFFIX}").load(str(control.path))
    name = F.element_at(F.split("path", "/"), -1)
    return found.select(name.alias("name"), "content").mapInArrow(
        ControlPacker(numbers), PACKED
    )


def tell_what_stands(control: Control, name: str) -> None:
    """Log which messages replace arguments of a query that starts."""
    for setting, (message, value) in control.standing(name).items():
        if setting not in _ARGUMENTS:
            continue
        log.warning(
            "The join %r follows the message %s, which sets %s to %s. The argument "
            '%s= is ignored.\nFix: control.send(%s="as started") to follow it.',
            *(name, message, setting, json.dumps(value), _ARGUMENTS[setting]),
            setting,
        )


_ARGUMENTS = {"budget": "budget", "policy": "keep", "importance": "keep"}
"""Settings of messages, and the arguments of the join that they replace."""


def keep_records(session: SparkSession, control: Control, name: str) -> None:
    """For every query, record in the control folder what became of each message."""
    listen(session, _Recorder, control, name)


class _Recorder(ProgressListener):
    """Copies the record of messages from a query's progress to the control folder.

    If the driver fails before the copy is made, nothing is lost: the state has the
    record, and the next micro-batch reports it again.
    """

    def __init__(self, control: Control, name: str) -> None:
        super().__init__(control, name)
        self._noted: dict[str, str] = {}

    def look(self, progress: StreamingQueryProgress, counts: dict[str, Any]) -> None:
        """Store the record if it has changed; in most micro-batches it has not."""
        told = counts["control"]
        join = f"{progress.id}-{self.name}"
        if told and told != self._noted.get(join):
            record = Record.of(json.loads(told))
            if record.entries:
                self.control.note(join, list(record.entries))
            self._noted[join] = told
