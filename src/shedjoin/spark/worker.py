"""Settings and properties of Spark's Python workers."""

from __future__ import annotations

import gc
from functools import cache

from pyspark import TaskContext


@cache
def settle_worker(role: str) -> None:
    """Exclude all loaded objects from garbage collection, once per ``role``.

    A reused worker runs a full collection after every task. If pyarrow, pandas and
    numba are loaded, the collection visits half a million objects that are never freed.
    This takes some 60 ms of every task. Objects that are excluded (frozen) are skipped.
    Workers change roles, and each role loads its own modules. For example, a worker
    that has packed rows may join rows next, and loads numba only then.
    """
    del role  # the argument is the key of the cache
    gc.collect()
    gc.freeze()


def local_property(name: str) -> str | None:
    """A property of the running task's query, if there is a task."""
    context = TaskContext.get()
    return None if context is None else context.getLocalProperty(name)


def is_first_partition() -> bool:
    """Whether this task is the first of its stage."""
    context = TaskContext.get()
    return context is not None and context.partitionId() == 0
