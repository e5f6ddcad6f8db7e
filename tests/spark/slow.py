"""First attempts of tasks that dawdle, so that Spark starts another one beside them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark import TaskContext

from shedjoin.policies import IJoin, Residents
from shedjoin.types import FloatArray

NAPS_S = (0.3, 1.5, 3.0, 20.0)
"""Taken in turns: some first attempts win the race, some lose it, some hardly."""

_rested: set[int] = set()


def dawdle() -> None:
    """Sleep, once in a task, if it is the first attempt at the first partition."""
    context = TaskContext.get()
    if context is None or context.attemptNumber() or context.partitionId():
        return
    task = context.taskAttemptId()
    if task not in _rested:
        _rested.add(task)
        time.sleep(NAPS_S[context.stageId() % len(NAPS_S)])


def slow_first_attempt(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give rows as they are, some of them late."""
    for batch in batches:
        dawdle()
        yield batch


class SlowIJoin(IJoin):
    """Judges as ``IJoin``."""

    __slots__ = ()

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row, after a while."""
        dawdle()
        return IJoin.score(self, residents)
