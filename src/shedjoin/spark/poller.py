"""A thread of the driver that polls a table."""

from __future__ import annotations

import atexit
import logging
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock, Thread

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from shedjoin.versions.folder import VersionFolder
from shedjoin.versions.log import VersionLog

Read = Callable[[], DataFrame]

_log = logging.getLogger(__name__)
_pollers: dict[Path, Poller] = {}
_pollers_lock = Lock()
_PATIENCE_S = 10.0
_LETTERS = 500


class Poller(Thread):
    """Writes the versions of a table, until it is stopped or the session ends.

    Errors are recorded in the folder, and polling goes on. While another driver writes
    to the folder, this thread only waits.

    Parameters
    ----------
    read : callable
        Gives the table as a batch DataFrame.
    folder : VersionFolder
        A folder with a description.
    every_s : float
        Seconds from one reading to the next.
    session : SparkSession
        Polling ends with this session.
    lead_us : int
        Delay between detecting a change and applying it.
    """

    def __init__(
        self,
        read: Read,
        folder: VersionFolder,
        every_s: float,
        session: SparkSession,
        lead_us: int = 0,
    ) -> None:
        super().__init__(name=f"poller of {folder.path}", daemon=True)
        self._read, self._folder = read, folder
        self._every_s, self._session = every_s, session
        self._lead_us = lead_us
        self._stopped = Event()
        self._writer: VersionLog | None = None
        self._problem = ""

    def run(self) -> None:
        """Read, then wait for the rest of the interval."""
        wait_s = 0.0
        while not self._stopped.wait(wait_s) and not _ended(self._session):
            began = time.monotonic()
            self._try()
            wait_s = max(0.0, self._every_s - (time.monotonic() - began))
        if self._writer is not None:
            self._writer.close()

    def stop(self) -> None:
        """Stop, after the present reading if there is one."""
        self._stopped.set()
        self.join(_PATIENCE_S)

    def _try(self) -> None:
        try:
            self._observe()
            self._problem = ""
        except Exception as error:  # noqa: BLE001  (whatever read() may raise)
            if not self._stopped.is_set() and not _ended(self._session):
                self._tell(_said(error))

    def _tell(self, problem: str) -> None:
        if problem != self._problem:
            _log.warning("%s: the table is not read: %s", self._folder.path, problem)
            self._problem = problem
        try:
            self._folder.note_failure(problem)
        except OSError:
            _log.exception("%s cannot be written", self._folder.path)

    def _observe(self) -> None:
        if self._writer is None:
            self._writer = VersionLog.acquire(self._folder)
        if self._writer is not None:
            self._writer.lead_us, self._writer.clock = self._lead_us, _clock_us
            table = self._read().toArrow()
            self._writer.observe(table, _clock_us())


def start_polling(
    read: Read,
    folder: VersionFolder,
    every_s: float,
    session: SparkSession,
    lead_us: int,
) -> None:
    """Start to poll into a folder; stop the former poller of this process."""
    with _pollers_lock:
        _stop(folder.path)
        poller = Poller(read, folder, every_s, session, lead_us)
        _pollers[folder.path] = poller
        poller.start()


def stop_polling(path: Path) -> bool:
    """Stop polling into a folder; return whether this process did poll."""
    with _pollers_lock:
        return _stop(path)


@atexit.register
def _stop_all() -> None:
    """Stop before the interpreter exits, since a reading thread would make it abort."""
    with _pollers_lock:
        for path in list(_pollers):
            _stop(path)


def _stop(path: Path) -> bool:
    poller = _pollers.pop(path, None)
    if poller is None:
        return False
    poller.stop()
    return True


def _clock_us() -> int:
    return time.time_ns() // 1_000


def _ended(session: SparkSession) -> bool:
    """Whether a session of this process was stopped."""
    context = getattr(session, "_sc", None)
    return context is not None and context._jsc is None  # noqa: SLF001


def _said(error: Exception) -> str:
    """The first line of an error; the JVM's own, without the name of a Java object."""
    if isinstance(error, Py4JJavaError):
        text = str(error.java_exception.toString())
    else:
        text = f"{type(error).__name__}: {error}"
    return text.partition("\n")[0][:_LETTERS]
