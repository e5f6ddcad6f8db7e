"""Run as a process whose memory is watched: ``python -m spark.bounded``, see ``main``.

The operator without a JVM, over a state store in a folder.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from shedjoin import Budget, Within
from shedjoin.columns.packing import pack
from shedjoin.policies.goals import shedding_of
from shedjoin.spark.operator import JoinProcessor
from shedjoin.spec.report import count_types
from shedjoin.spec.streams import JoinSpec
from support.sides import SIDES, Side
from support.specs import make_spec

START_US = 1_700_000_000_000_000
TIME = pa.timestamp("us", "UTC")


class FolderState:
    """A map state whose values are files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def getValue(self, key: tuple[int]) -> tuple[bytes] | None:  # noqa: N802
        file = self._folder / str(key[0])
        return (file.read_bytes(),) if file.exists() else None

    def updateValue(self, key: tuple[int], value: tuple[bytes]) -> None:  # noqa: N802
        (self._folder / str(key[0])).write_bytes(value[0])

    def removeKey(self, key: tuple[int]) -> None:  # noqa: N802
        (self._folder / str(key[0])).unlink()


class Handle:
    """The engine, as the operator sees it; also the watermark."""

    def __init__(self, folder: Path) -> None:
        self._state = FolderState(folder)

    def getMapState(self, *_: object) -> FolderState:  # noqa: N802
        return self._state

    def registerTimer(self, _: int) -> None:  # noqa: N802
        """No timer fires."""

    deleteTimer = registerTimer  # noqa: N815

    def getCurrentWatermarkInMs(self) -> int:  # noqa: N802
        return START_US // 1000 - 1


def rows_of(
    side: Side, count: int, width: int, seed: int, key: int | None
) -> Iterator[pa.RecordBatch]:
    """Rows with payload of random bytes, of one key or each of a key of its own."""
    rng = np.random.default_rng((seed, side))
    for first in range(0, count, 50_000):
        size = min(50_000, count - first)
        own = (seed << 32) + np.arange(first, first + size)
        keys = own if key is None else np.full(size, key)
        when = START_US + rng.integers(0, 1_000_000, size)
        filler = pa.py_buffer(rng.bytes(size * width))
        payload = pa.Array.from_buffers(pa.binary(width), size, [None, filler])
        names = ["key", ("shown", "clicked")[side], ("a", "b")[side]]
        yield pa.record_batch(
            [pa.array(keys), pa.array(when).cast(TIME), payload], names
        )


def make_join(width: int, budget: int) -> JoinSpec:
    """The join of two such streams."""
    schemas = tuple(next(rows_of(side, 1, width, 0, 1)).schema for side in SIDES)
    within = Within(before="1 hour", after="1 hour")
    names = ("_l", "_r")
    spec = make_spec(schemas, "key", within, ("shown", "clicked"), 1, names)
    shedding = shedding_of(Budget(rows=budget) if budget else None, None)
    return spec.with_shedding(shedding)


def frames(task: dict[str, Any], spec: JoinSpec) -> Iterator[pd.DataFrame]:
    """A micro-batch as the engine delivers it."""
    for side in SIDES:
        counts = task["rows"][side]
        batches = rows_of(side, counts, task["width"], task["seed"], task["key"])
        for _, blob in pack(batches, side, spec):
            payload = pa.py_buffer(blob.payload).to_pybytes()
            yield pd.DataFrame(
                {"stream": [side], "digest": [blob.digest], "blob": [payload]}
            )


def watch() -> Callable[[], int]:
    """Watch the memory of this process that no file backs; tell the most, in bytes."""
    most = [0]
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.005):
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("RssAnon"):
                    most[0] = max(most[0], 1024 * int(line.split()[1]))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()

    def told() -> int:
        stop.set()
        thread.join()
        return most[0]

    return told


def main(folder: Path, task: dict[str, Any]) -> dict[str, int]:
    """Join micro-batches of ``task`` on the state in a folder; tell what came out."""
    handle: Any = Handle(folder / "state")
    spec = make_join(task["width"], task.get("budget", 0))
    processor = JoinProcessor(spec, [0], durable=True)
    processor.init(handle)
    names = count_types(spec.names)
    most = watch()
    told = {"results": 0, "bytes": 0, "misses": 0, "fallbacks": 0}
    for number in range(task["batches"]):
        given = frames(task | {"seed": task["seed"] + number}, spec)
        for frame in processor.handleInputRows((0,), given, handle):
            told["bytes"] += sum(map(len, frame["results"].dropna()))
            last = dict(zip(names, frame["counts"].iloc[-1] or (), strict=False))
        told["results"] += int(last["matched"])
        told["misses"] += int(last["copy_misses"])
        told["fallbacks"] += int(last["copy_fallbacks"])
    return told | {"anonymous": most()}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]), json.loads(sys.argv[2]))))
