"""Keeps micro-batches within their time, by messages from the driver to the join."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from datetime import datetime
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress

from shedjoin.control.folder import Control
from shedjoin.control.record import Record
from shedjoin.control.throttling import Observed, Throttling
from shedjoin.errors import ParameterError
from shedjoin.models.costs import TYPICAL, Costs, Seconds, Work
from shedjoin.spark.listening import ProgressListener, listen
from shedjoin.spec.budget import Budget
from shedjoin.spec.recall import ESTIMATED
from shedjoin.spec.throttle import OPEN, Throttle

log = logging.getLogger("shedjoin")

_LEAST = 0.01
"""When the number of all results is extrapolated from the share of the work, a smaller
share counts as this one."""
_CLOSER = 0.8
"""A new share is sent at once if it is below this part of the share sent before."""


def keep_time(
    session: SparkSession,
    control: Control | None,
    name: str,
    budget: Budget,
    *,
    looks: bool,
) -> None:
    """Make the driver watch the micro-batches of a join, and send it throttles.

    If ``looks`` is True, work is saved by comparing fewer residents, not by storing
    fewer rows.
    """
    if control is None:
        raise ParameterError(
            f"budget={budget!r} needs a folder for the messages that steer the join.",
            fix="pass control=shedjoin.Control(path), a folder that the driver and all "
            "executors can read.",
        )
    timekeeper = listen(session, _Timekeeper, control, name)
    timekeeper.session = session
    timekeeper.budget = budget
    timekeeper.looks = looks


class _Timekeeper(ProgressListener):
    """Compares the time of micro-batches with the budget, and sends throttles.

    If the driver fails, nothing is lost: the throttle in force is in the state, and
    costs are learned again in a few micro-batches.
    """

    session: SparkSession
    """The session. Spark itself sets the session of a listener only under Connect."""

    budget: Budget
    """The budget of the latest definition of the join."""

    looks: bool
    """Whether the join is by predicates."""

    def __init__(self, control: Control, name: str) -> None:
        super().__init__(control, name)
        self._queries: dict[str, _Query] = {}

    def look(self, progress: StreamingQueryProgress, counts: dict[str, Any]) -> None:
        """Learn from a micro-batch with rows, and adapt the throttle."""
        run = str(progress.runId)
        if not progress.numInputRows:
            return
        try:
            if run not in self._queries:
                known = self.control.costs()
                prior = Seconds(**known) if known else TYPICAL
                costs = Costs(prior, looks=self.looks)
                interval = self._interval(progress)
                self._queries[run] = _Query(interval, costs, looks=self.looks)
            join = f"{progress.id}-{self.name}"
            self._queries[run].adapt(progress, counts, self.budget, self.control, join)
        except Exception:  # the query continues with its present throttle
            log.exception("The time of micro-batches of %s is not kept", self.name)

    def _interval(self, progress: StreamingQueryProgress) -> float | None:
        """Seconds between triggers; None if there is no interval, or if it is unknown.

        Spark has no public method for the interval, so it is read from the query in the
        JVM. If this is not possible, as under Spark Connect, the budget must be a
        duration.
        """
        try:
            query = self.session.streams.get(str(progress.id))
            trigger = query._jsq.streamingQuery().trigger()  # type: ignore[union-attr]  # noqa: SLF001
            return float(trigger.intervalMs()) / 1000
        except Exception:  # noqa: BLE001  (whatever Py4J or Connect raises)
            return None


class _Query:
    """One run of a query."""

    def __init__(
        self, interval: float | None, costs: Costs, *, looks: bool = False
    ) -> None:
        self._interval = interval
        self._looks = looks
        self._throttling = Throttling(costs=costs)
        self._started: float | None = None
        self._sent, self._asked = "", 1.0
        self._missed: float | None = None
        self._said: set[str] = set()

    def adapt(
        self,
        progress: StreamingQueryProgress,
        counts: dict[str, Any],
        budget: Budget,
        control: Control,
        join: str,
    ) -> None:
        record = Record.of(json.loads(counts.get("control") or "{}"))
        told = record.in_force.get("budget")
        if isinstance(told, dict) and told.get("cpu") is not None:
            budget = replace(budget, cpu=told["cpu"])
        target = budget.seconds(self._interval)
        if target is None:
            self._say_once(
                "unknown",
                "cpu=%r is a part of the trigger interval, which is not known here: "
                "micro-batches are not limited. Write a time, such as "
                'cpu="3 seconds", or start with trigger(processingTime=...).',
                budget.cpu,
            )
            return
        told = record.in_force.get("throttle")
        share = (Throttle(**told) if isinstance(told, dict) else OPEN).share
        first = self._started is None
        seen = self._observed(progress, counts, share)
        if first:  # its time includes starting workers and restoring state
            return
        interval = self._interval or 0.0
        throttle = self._throttling.adapt(seen, target, interval)
        # ``Control`` gives messages names that sort by time. Names are compared because
        # a record drops old entries, so the sent message may not be in the record.
        names = (e.name for e in record.entries if len(e.name) == len(self._sent))
        answered = max((name for name in names if name[:1].isdigit()), default="")
        # A message that is not applied yet will be in force soon. A second message
        # would change the throttle twice. But a much smaller share is sent at once,
        # because while a query is behind, its micro-batches get longer and longer.
        closer = throttle is not None and throttle.share < _CLOSER * self._asked
        if throttle is not None and (self._sent <= answered or closer):
            sent = {name: getattr(throttle, name) for name in throttle.__slots__}
            self._sent, self._asked = control.send(throttle=sent), throttle.share
        self._note(control, join, progress, seen, target)

    def _observed(
        self, progress: StreamingQueryProgress, counts: dict[str, Any], share: float
    ) -> Observed:
        started = datetime.fromisoformat(progress.timestamp).timestamp()
        seconds = progress.durationMs["triggerExecution"] / 1000
        waited = self._interval or seconds
        if self._started is not None:
            waited = max(started - self._started, 1e-3)
        self._started = started
        rows = _both(counts, "seen")
        matched = float(counts["matched"])
        updates, all_updates = _both(counts, "stored"), rows
        if self._looks:
            updates, all_updates = counts["looked"], counts["looked_exact"]
        missed = self._missing(counts, share)
        return Observed(
            seconds,
            Work(1, rows, updates, matched),
            exact=Work(1, rows, all_updates, matched * missed),
            rows_per_second=rows / waited,
            share=share,
        )

    def _missing(self, counts: dict[str, Any], share: float) -> float:
        """Number of all results for each result that was found.

        While the recall is unknown, the last known number is used. If there is none,
        the number follows from the share of the work.
        """
        if share >= 1:
            return 1.0
        missed, kept = float(counts["missed"]), float(counts["measured"])
        if counts["recall_code"] <= ESTIMATED:
            self._missed = max(1.0, 1.0 + missed / kept) if kept > 0 else 1.0
        return 1 / max(share, _LEAST) if self._missed is None else self._missed

    def _note(
        self,
        control: Control,
        join: str,
        progress: StreamingQueryProgress,
        seen: Observed,
        target: float,
    ) -> None:
        costs = self._throttling.costs
        control.note_load(
            join,
            {
                "micro_batch": progress.batchId,
                "seconds": seen.seconds,
                "target": target,
                "floor": round(costs.unsaved(seen.work.rows), 3),
                "share": seen.share,
                "costs": costs._asdict(),
            },
        )
        rows = seen.rows_per_second * max(self._interval or 0.0, target)
        floor = costs.unsaved(rows)
        if floor > target:
            self._say_once(
                "floor",
                "A micro-batch may take %.2f s, but planning, reading, packing and "
                "shuffling alone take %.2f s, whatever is shed; a tenth of the time is "
                "still spent on joining. Add cores, and shards to use them, or allow "
                "more time.",
                target,
                floor,
            )

    def _say_once(self, what: str, text: str, *values: object) -> None:
        if what not in self._said:
            self._said.add(what)
            log.warning(text, *values)


def _both(counts: dict[str, Any], name: str) -> float:
    """A count over all streams."""
    return float(sum(n for key, n in counts.items() if key.startswith(f"{name}_")))
