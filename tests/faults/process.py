"""A worker process that can be killed, stand still or find its disk full, at any call.

All workers live in this one process, and only one runs at a time. A worker that may
stand still has a thread; it gives its turn back when it pauses and when it is over.
"""

from __future__ import annotations

import errno
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from .attempt import surround
from .node import Node
from .schedule import Attempt

T = TypeVar("T")
_PATIENCE_S = 60
_here = threading.local()


class Killed(BaseException):
    """The worker is dead; nothing that it does from now on takes effect."""


class Process:
    """One attempt in one worker.

    Parameters
    ----------
    node, pid
        The worker.
    plan
        What is to happen to it.
    serial
        Number of the attempt, over all attempts of a sequence.
    micro_batch
        Number of its micro-batch.
    """

    def __init__(
        self, node: Node, pid: int, plan: Attempt, serial: int, micro_batch: int
    ) -> None:
        self.node = node
        self.pid = pid
        self.serial = serial
        self.micro_batch = micro_batch
        self.plan = plan
        self.calls = 0
        self._last: tuple[object, ...] = ("its start",)
        self.dead = False
        self.crowded = False
        self.closing = False
        self.over = False
        self.error: Exception | None = None
        self.given: list[object] = []
        self.fds: set[int] = set()
        self.owned: set[int] = set()
        self._writes = 0
        self._drawn = 0
        self._threaded = plan.pause is not None
        self._own_turn = threading.Semaphore(0)
        self._others_turn = threading.Semaphore(0)
        self._worker = node.worker(pid)
        node.busy.add(pid)

    def run(self, begin: Callable[[], Iterator[object]]) -> None:
        """Run the attempt until it is over or stands still."""
        if not self._threaded:
            self._drive(begin)
            return
        threading.Thread(target=self._drive, args=(begin,), daemon=True).start()
        self._wait(self._others_turn)

    def resume(self, ending: str) -> None:
        """Let an attempt that stands still go on, die, or end at its next result."""
        if ending == "dies":
            self._die()
        self.closing = ending == "closes"
        self._own_turn.release()
        self._wait(self._others_turn)

    def call(
        self,
        name: str,
        act: Callable[[], T],
        *places: object,
        writes: bool = False,
        half: Callable[[], object] | None = None,
    ) -> T:
        """Do one call; ``half`` of it if the worker is killed or has no room left."""
        if self.dead:
            raise Killed
        self._last = (name, *places)
        self._writes += writes
        first = self.plan.full or self._writes + 1
        no_room = writes and self._writes >= first
        try:
            if half is not None and (no_room or self.calls + 1 == self.plan.kill):
                half()
                act = _unreachable
            if no_room:
                self.crowded = True
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
            return act()
        finally:
            self._passed()

    @property
    def last(self) -> str:
        """The last call: what it did to which files, without their folders."""
        said = [
            Path(place).name[:12] if isinstance(place, str | Path) else str(place)
            for place in self._last[1:]
            if place is not None
        ]
        return " ".join([str(self._last[0]), *said])

    def random(self, size: int) -> bytes:
        """Bytes that look random, the same in every run of the test."""
        self._drawn += 1
        seed = f"{self.serial} {self._drawn}".encode()
        return hashlib.shake_256(seed).digest(size)

    def _passed(self) -> None:
        self.calls += 1
        if self.calls == self.plan.kill:
            self._die()
        if self._threaded and self.calls == self.plan.pause:
            self._others_turn.release()
            self._wait(self._own_turn)
            self._enter()
        if self.dead:
            raise Killed

    def _enter(self) -> None:
        surround(self.node.local_dirs, self.serial, self.micro_batch)
        self._worker.wake()

    def _die(self) -> None:
        self.dead = True
        self.node.alive.pop(self.pid, None)

    def _drive(self, begin: Callable[[], Iterator[object]]) -> None:
        _here.process = self
        self._enter()
        try:
            self._take(begin())
        except Killed:
            self.given.clear()
        except Exception as error:  # noqa: BLE001  (what it means is decided later)
            self.error = error
        finally:
            _here.process = None
            for fd in self.owned:
                os.close(fd)
            self.node.busy.discard(self.pid)
            self.over = True
            if self._threaded:
                self._others_turn.release()

    def _take(self, items: Iterator[object]) -> None:
        try:
            for item in items:
                self.given.append(item)
                self.call("yield", lambda: None)
                if self.closing:
                    break
        finally:  # of a dead worker, nothing that this does takes effect
            with suppress(Killed):
                getattr(items, "close", lambda: None)()

    @staticmethod
    def _wait(turn: threading.Semaphore) -> None:
        assert turn.acquire(timeout=_PATIENCE_S), "an attempt waits for one that pauses"


def _unreachable() -> Any:  # noqa: ANN401  (never gives anything)
    raise Killed


def acting() -> Process | None:
    """Give the worker whose turn it is in this thread."""
    return getattr(_here, "process", None)
