"""A cluster of one driver and three executors on this machine, and kills in it."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import psutil
import pyspark

from .named_joins import locate
from .processes import Query, count, running, wait_until

EXECUTORS = 3
MASTER = f"local-cluster[{EXECUTORS},1,1024]"
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {
    "spark.executor.memory": "1g",
    "spark.executor.extraJavaOptions": _QUICK,
    # Kills are no reason to give up.
    "spark.task.maxFailures": "100",
    "spark.stage.maxConsecutiveAttempts": "100",
    "spark.deploy.maxExecutorRetries": "-1",
}
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.minTaskRuntime": "200ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.5",
}

Kind = Literal["executor", "worker"]


class Kill(NamedTuple):
    """What to kill, after how many micro-batches, and how many seconds later."""

    kind: Kind
    after: int
    wait_s: float


def plan_kills(seed: int, kills: int, batches: int) -> list[Kill]:
    """Kills of both kinds in turns at random moments, before ``batches`` are done."""
    rng = random.Random(seed)
    after = sorted(rng.randrange(1, batches) for _ in range(kills))
    kinds: tuple[Kind, Kind] = ("executor", "worker")
    return [Kill(kinds[n % 2], at, rng.uniform(0, 1.5)) for n, at in enumerate(after)]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Joins that run on a cluster of their own, and its processes."""

    query: Query
    folder: Path
    names: Sequence[str]

    def done(self) -> int:
        """Micro-batches done by all joins together."""
        return sum(count(locate(self.folder, n), "commits") for n in self.names)

    def executors(self) -> list[psutil.Process]:
        """JVMs that the JVM of our own driver has started."""
        return [p for p in self._below() if _runs(p, "CoarseGrainedExecutorBackend")]

    def busy_workers(self) -> list[psutil.Process]:
        """Python workers of the executors that compute, as far as one can see."""
        return [p for p in self._below() if _runs(p, "pyspark.daemon", busy=True)]

    def busy_executors(self) -> list[psutil.Process]:
        """Executors with a Python worker that computes: a kill loses its task."""
        busy: set[int] = set()
        for worker in self.busy_workers():
            with suppress(psutil.Error):
                busy.update(process.pid for process in worker.parents())
        return [process for process in self.executors() if process.pid in busy]

    def strike(self, plan: Sequence[Kill], seed: int) -> None:
        """Kill as planned; an executor must be replaced before the next kill."""
        rng = random.Random(seed)
        for number, kill in enumerate(plan, 1):
            self._strike(kill, rng)
            said = f"kill {number} of {len(plan)}, after {self.done()} micro-batches"
            print(f"{said}: {kill.kind}", flush=True)  # noqa: T201  (progress)

    def _strike(self, kill: Kill, rng: random.Random) -> None:
        self._wait(lambda: self.done() >= kill.after)
        time.sleep(kill.wait_s)
        executor = kill.kind == "executor"
        find = self.busy_executors if executor else self.busy_workers
        victims: list[psutil.Process] = []
        while not victims:
            self._wait(lambda: bool(find()))
            victims = find()
        victim = rng.choice(sorted(process.pid for process in victims))
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        self._wait(lambda: self._whole(victim))

    def _whole(self, gone: int) -> bool:
        pids = [process.pid for process in self.executors()]
        return gone not in pids and len(pids) == EXECUTORS

    def _wait(self, ready: Callable[[], bool]) -> None:
        wait_until(ready, self.query, self.folder)

    def _below(self) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self.query.pid).children(recursive=True)
        return []


@contextmanager
def cluster(
    folder: Path, *names: str, master: str = MASTER, **more: str
) -> Iterator[Cluster]:
    """Start joins by name over the files of ``FOLDER/in``, on their own cluster."""
    settings = json.dumps(SETTINGS | more)
    home = str(_make_home(folder / "home"))
    child = "spark.child_joins", master, settings, *names
    with running(folder, *child, SPARK_HOME=home) as query:
        yield Cluster(query, folder, names)


def _make_home(home: Path) -> Path:
    """Make a SPARK_HOME of links: executors of a cluster write below it."""
    home.mkdir()
    package = Path(pyspark.__file__).parent
    for name in ("bin", "jars"):
        (home / name).symlink_to(package / name)
    return home


def _runs(process: psutil.Process, name: str, *, busy: bool = False) -> bool:
    with suppress(psutil.Error):
        if name in " ".join(process.cmdline()):
            return not busy or process.status() == psutil.STATUS_RUNNING
    return False
