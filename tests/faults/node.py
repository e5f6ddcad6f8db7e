"""A machine: a folder of its own, and the workers that live there."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .attempt import Worker

FIRST_PID = 100


@dataclass(slots=True)
class Node:
    """One machine.

    Attributes
    ----------
    number, root
        Which it is, and the folder that stands for its disks.
    alive, busy
        Its workers by their process ids, and those in the middle of an attempt.
    """

    number: int
    root: Path
    alive: dict[int, Worker] = field(default_factory=dict)
    busy: set[int] = field(default_factory=set)

    @property
    def local_dirs(self) -> str:
        """Spark's local folders of this node."""
        return ",".join(str(self.root / disk) for disk in ("disk0", "disk1"))

    def worker(self, pid: int) -> Worker:
        """The worker with this process id, a new one if it is dead."""
        return self.alive.setdefault(pid, Worker())

    def idle(self, worker: int) -> int:
        """Process id of a worker, or of the next one that is not busy."""
        pid = FIRST_PID + worker
        while pid in self.busy:
            pid += 1
        return pid
