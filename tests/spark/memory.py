"""Memory of the Python workers of this session, watched from outside."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(slots=True)
class Peak:
    """The greatest of any worker, in bytes.

    ``anonymous`` is memory of its own, sampled. ``resident`` also has the pages of
    files that it maps, which the system takes back when it needs room, and is kept by
    the system itself since the process began.
    """

    anonymous: int = 0
    resident: int = 0


@contextmanager
def watched_workers(every_s: float = 0.02) -> Iterator[Peak]:
    """Look at all Python workers many times a second while the block runs."""
    peak, done = Peak(), threading.Event()

    def look() -> None:
        while not done.wait(every_s):
            for process in _workers():
                said = _status(process)
                peak.anonymous = max(peak.anonymous, said.get("RssAnon", 0))
                peak.resident = max(peak.resident, said.get("VmHWM", 0))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def _workers() -> Iterator[int]:
    """Children of our own JVM that run Python."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "pyspark.daemon" in process.cmdline():
                yield process.pid


def _status(pid: int) -> dict[str, int]:
    """Sizes in bytes that the system knows of a process, by name."""
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
        sizes = (line.split() for line in lines if line.endswith(" kB"))
        return {name.rstrip(":"): int(number) * 1024 for name, number, _ in sizes}
    return {}
