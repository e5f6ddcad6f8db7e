"""Counts the rows that one shard with a memory budget has dropped, by reason."""

from __future__ import annotations

from typing import Any

import numpy as np

from shedjoin.operators.frame.completeness import Completeness
from shedjoin.operators.frame.ordered import Timely
from shedjoin.operators.multiway.bounded_store import BoundedStore
from shedjoin.operators.multiway.shedder import NOBODY, Left
from shedjoin.spec.report import Report
from shedjoin.spec.streams import JoinSpec


class Losses:
    """Counts of dropped rows in a micro-batch, and the number of arrivals so far.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    completeness : Completeness
        Record of missing results, which is updated.
    facts : dict, optional
        What :meth:`facts` returned when the state was stored.
    """

    def __init__(
        self,
        spec: JoinSpec,
        completeness: Completeness,
        facts: dict[str, Any] | None = None,
    ) -> None:
        facts = facts or {}
        self._keep_us = np.maximum(spec.keeps_us, 0)
        self.next_number: int = facts.get("next_number", 0)
        self._completeness = completeness
        self._begin()

    def _begin(self) -> None:
        streams = self._keep_us.size
        self._refused, self._evicted, self._expired = np.zeros((3, streams), np.int64)
        self._life = np.zeros(2)

    def facts(self) -> dict[str, Any]:
        """Facts to store: the number of the next arrival."""
        return {"next_number": self.next_number}

    def count(self, left: Left, clock_us: int, first_new: int = NOBODY) -> None:
        """Count rows that were shed.

        Rows with the number ``first_new`` or a greater number count as refused. Other
        rows count as evicted.
        """
        if not left.stream.size:
            return
        self._completeness.note_shed(int(left.time.max()))
        streams, new = self._keep_us.size, left.number >= first_new
        self._refused += np.bincount(left.stream[new], minlength=streams)
        self._evicted += np.bincount(left.stream[~new], minlength=streams)
        most = self._keep_us[left.stream]
        self._lived(np.minimum((clock_us - left.time).clip(0), most) * 1e-6)

    def expire(self, store: BoundedStore, watermark_ms: int) -> None:
        """Remove residents that no arrival can match any more, and count them."""
        before = np.array([windows.count for windows in store.windows])
        store.expire(watermark_ms)
        left = before - [windows.count for windows in store.windows]
        self._expired += left
        self._lived(np.repeat(self._keep_us * 1e-6, left))

    def report(self, store: BoundedStore, arrivals: Timely) -> Report:
        """Report of a micro-batch; the counts then start again from 0."""
        taken = np.array(arrivals.taken)
        by_stream = {
            "seen": arrivals.seen,
            "late": np.array(arrivals.seen) - taken,
            "stored": taken - self._refused,
            "expired": self._expired,
            "resident": [windows.count for windows in store.windows],
            "shed": self._refused + self._evicted,
        }
        counts = {name: tuple(map(int, each)) for name, each in by_stream.items()}
        refused, evicted = int(self._refused.sum()), int(self._evicted.sum())
        life, squared = self._life.tolist()
        self._begin()
        return Report(
            **counts,  # type: ignore[arg-type]  # those that have one per stream
            refused=refused,
            evicted=evicted,
            lifetimes=life,
            lifetimes_squared=squared,
            segments=len(store.payload.segments),
            state_bytes=store.nbytes,
            watermark_ms=store.watermark_ms,
        )

    def _lived(self, seconds: np.ndarray[Any, np.dtype[np.float64]]) -> None:
        self._life += seconds.sum(), (seconds**2).sum()
