"""Queries in processes of their own: started, found, waited for and ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

TESTS = Path(__file__).parents[1]
PATIENCE_S = 400
ERROR = re.compile(r"(Error|Exception)\b|Caused by|Timed out")

Query = subprocess.Popen[bytes]


@contextmanager
def running(folder: Path, module: str, *arguments: str, **more: str) -> Iterator[Query]:
    """Run a module of the tests; what it prints goes to ``FOLDER/log``.

    It gets a session of its own, by which all of its processes are found and ended:
    the driver, its JVM, executors, and Python workers, which leave the process group.
    """
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        **more,
    }
    environment.pop("SPARK_LOCAL_DIRS", None)  # it would win over the setting
    with (folder / "log").open("ab") as log:
        query = subprocess.Popen(
            [sys.executable, "-m", module, str(folder), *arguments],
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield query
    finally:
        kill(query)


def members(session: int, name: str = "") -> list[int]:
    """Processes of a session with ``name`` in their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session and name in " ".join(
                process.cmdline()
            ):
                found.append(process.pid)
        except (ProcessLookupError, psutil.Error):  # gone, or dead and not yet buried
            continue
    return found


def kill(query: Query) -> int:
    """Kill every process of the query at once; return how many there were."""
    killed = 0
    while pids := members(query.pid):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        killed += len(pids)
        time.sleep(0.05)
    query.wait()
    return killed


def count(folder: Path, log: str) -> int:
    """Micro-batches planned (``offsets``) or done (``commits``) by a checkpoint."""
    return sum(path.name.isdigit() for path in (folder / "checkpoint" / log).glob("*"))


def last_words(folder: Path) -> str:
    """The errors that a query printed last, and the end of what it printed.

    Spark prints a query's plan after its error, which can be longer than the rest.
    """
    log = (folder / "log").read_text(errors="replace")
    errors = [line[:500] for line in log.splitlines() if ERROR.search(line)]
    return "\n".join([*errors[-20:], log[-2000:]])


def wait_until(ready: Callable[[], bool], query: Query, folder: Path) -> None:
    """Wait while the query runs; it may neither end nor hang."""
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        assert query.poll() is None, f"the query ended too early: {last_words(folder)}"
        assert time.monotonic() < deadline, f"the query is stuck: {last_words(folder)}"
        time.sleep(0.02)


def wait_for_end(query: Query, folder: Path) -> None:
    """Wait until the query has used up its input."""
    try:
        code = query.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"the query is stuck: {last_words(folder)}") from None
    assert code == 0, last_words(folder)
