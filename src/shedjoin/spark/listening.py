"""Listeners of a session's queries, each added once.

Spark reports all queries of a session to a listener, and joins of several queries may
have the same name. So a listener uses only counts that name its control folder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)

from shedjoin.control.folder import Control

_Listener = TypeVar("_Listener", bound="ProgressListener")

_Key = tuple[object, str, str]
_listening: WeakKeyDictionary[SparkSession, dict[_Key, Any]] = WeakKeyDictionary()
FOLDER = "control_folder"
"""Name under which the counts of a join have the path of its control folder."""


class ProgressListener(StreamingQueryListener):
    """Gets the counts of every micro-batch of one join, in any query.

    Parameters
    ----------
    control : Control
        The folder that steers the join.
    name : str
        The join's name.
    """

    def __init__(self, control: Control, name: str) -> None:
        self.control = control
        self.name = name

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Do nothing: there are no counts yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Pass on the counts of a micro-batch, if the join is in it."""
        found = event.progress.observedMetrics.get(self.name)
        counts = {} if found is None else found.asDict()
        if counts.get(FOLDER) == str(self.control.path):
            self.look(event.progress, counts)

    def look(self, progress: StreamingQueryProgress, counts: dict[str, Any]) -> None:
        """Use the counts of a micro-batch."""
        raise NotImplementedError

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """Do nothing: there are no new counts."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Do nothing: what was recorded in control folders stays there."""


def listen(
    session: SparkSession,
    kind: Callable[[Control, str], _Listener],
    control: Control,
    name: str,
) -> _Listener:
    """Return the listener of this kind for a join, and add one if there is none yet."""
    known = _listening.setdefault(session, {})
    key = (kind, str(control.path), name)
    if key not in known:
        known[key] = kind(control, name)
        session.streams.addListener(known[key])
    found: _Listener = known[key]
    return found
