"""Listeners of a session's queries, each added once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

_listening: WeakKeyDictionary[SparkSession, set[Hashable]] = WeakKeyDictionary()


class ProgressListener(StreamingQueryListener):
    """Is told of every micro-batch of every query."""

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Nothing is known yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Look at a micro-batch."""
        raise NotImplementedError

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """Nothing has changed."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """What was noted stays."""


def listen(
    session: SparkSession, to: Hashable, make: Callable[[], ProgressListener]
) -> None:
    """Add a listener, unless the session already has one for the same."""
    known = _listening.setdefault(session, set())
    if to not in known:
        session.streams.addListener(make())
        known.add(to)
