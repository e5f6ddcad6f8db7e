"""The engine's part: a shard's committed state, and attempts against copies of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from .attempt import Given, begin, gathered, make_operator, message_blobs
from .joins import Join
from .node import FIRST_PID, Node
from .process import Process
from .schedule import Attempt
from .state import Handle, Stored
from .streams import BATCHES


@dataclass(slots=True)
class Shard:
    """One join of the query: what is committed, and of how many micro-batches."""

    join: Join
    name: str = ""
    stored: Stored = field(default_factory=Stored)
    done: int = 0

    def start(self, node: Node, attempt: Attempt, serial: int) -> Running:
        """Run an attempt of the next micro-batch until it is over or stands still."""
        join, pid = self.join, node.idle(attempt.worker)
        process = Process(node, pid, attempt, serial, self.done)
        running = Running(self, self.done, process, self.stored.copied(), attempt.wakes)
        number = min(self.done + attempt.astray, BATCHES - 1)
        start = join.start(max(0, self.done - attempt.former))
        running.stopped = start is not join.start(self.done)
        batch = join.batches[number]
        watermark_ms = batch.watermark_ms
        blobs = start.arrivals[number] + message_blobs(batch.messages)
        running.due = {timer for timer in self.stored.timers if timer <= watermark_ms}
        arrived = None if running.due and not blobs else blobs[:: 1 - 2 * (serial % 2)]
        handle = Handle(process, running.stored)
        operator = make_operator(
            start.spec,
            self.name,
            sweeps=attempt.sweeps,
            steered=join.query.steered,
            relation=join.relation,
        )
        process.run(lambda: begin(operator, handle, arrived, watermark_ms))
        return running

    def commit(self, running: Running) -> None:
        """Take over the state that an attempt left; timers that fired are gone."""
        self.stored = running.stored
        self.stored.timers -= running.due
        self.done += 1


@dataclass(slots=True)
class Running:
    """An attempt, its private copy of the state, and how long it is to stand still.

    It is ``stopped`` if it belongs to the start before, so that it is never committed.
    """

    shard: Shard
    number: int
    process: Process
    stored: Stored
    sleeps: int
    due: set[int] = field(default_factory=set)
    stopped: bool = False

    @property
    def given(self) -> Given:
        """All that it gave."""
        start = self.shard.join.start(self.number)
        return gathered(self.process.given, start.spec.names)

    @property
    def told(self) -> str:
        """One line about it: which it is, where, and what became of it."""
        process = self.process
        place = f"node {process.node.number} worker {process.pid - FIRST_PID}"
        rows = " (rows of the next)" if process.plan.astray else ""
        rows += " (start before)" if self.stopped else ""
        line = f"micro-batch {self.number}{self.shard.name}{rows}, {place}: "
        if process.crowded:
            line += f"no room from write {process.plan.full} on, "
        at = f"after call {process.calls} ({process.last})"
        if process.dead:
            return f"{line}killed {at}"
        if process.error is not None:
            return f"{line}fails {at}: {process.error!r}"
        if not process.over:
            return f"{line}stands still {at}"
        return line + (f"closed {at}" if process.closing else "runs to its end")

    @property
    def ended(self) -> bool:
        """Whether all that it gave is what its micro-batch gives."""
        process = self.process
        cut = process.dead or process.closing or process.error is not None
        other = process.plan.astray or self.stopped
        return process.over and not cut and not other
