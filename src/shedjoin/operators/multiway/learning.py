"""What a shard under a memory budget learns from its arrivals, and its clock."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shedjoin.models.several import SeveralModels
from shedjoin.operators.multiway.counted import is_counted, reach
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import FloatArray, IntArray

_UNSEEN = np.iinfo(np.int64).min
_LEAD = 16
"""Part of the window by which the clock may lead what all streams have reached."""
_PIECE = 1 << 10
"""Arrivals that are learned from at once."""


class Arrived(NamedTuple):
    """Arrivals of all streams in their order; ``key`` is what they are counted by."""

    stream: IntArray
    key: IntArray
    time: IntArray


class Learning:
    """Models and clock of one shard.

    The clock is the greatest time seen, but little more than what all streams have
    reached: a row from the far future does not make all others old.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    words : array
        What the models have learned; they work in it.
    capacity_rows : int
        About how many residents there may be.
    facts : dict, optional
        What :meth:`facts` gave when it was stored.
    """

    def __init__(
        self,
        spec: JoinSpec,
        words: IntArray,
        capacity_rows: int,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self._spec = spec
        self._words = words
        self._capacity_rows = capacity_rows
        self.is_counted = is_counted(spec)
        self.models = self._open()
        facts = facts or {}
        self.clock_us: int = facts.get("clock_us", _UNSEEN)
        # A copy: whoever tries the micro-batch again starts from the same facts.
        self._latest = list(facts.get("latest", [_UNSEEN] * len(spec.streams)))

    def facts(self) -> dict[str, Any]:
        """Give what is to be stored beside the words of the models."""
        return {"clock_us": self.clock_us, "latest": list(self._latest)}

    def observe(self, arrived: Arrived, watermark_ms: int) -> FloatArray:
        """Learn from arrivals.

        Tells how many results each result of an arrival stands for: none if it is not
        monitored, and else as many as there are keys to a monitored one.
        """
        weight = np.zeros(arrived.key.size)
        for start in range(0, arrived.key.size, _PIECE):
            at = slice(start, start + _PIECE)
            piece = Arrived(*(column[at] for column in arrived))
            weight[at] = self._observe(piece, watermark_ms)
        return weight

    def _observe(self, piece: Arrived, watermark_ms: int) -> FloatArray:
        self._set_clock(piece, 1000 * watermark_ms)
        models, watched = self.models, np.zeros(piece.key.size, np.bool_)
        if self.is_counted:
            watched = models.make_room(piece.stream, piece.key)
        models.observe(*piece, clock_us=self.clock_us, watched=watched)
        share = models.slice.share
        return watched / share if share else np.zeros(watched.size)

    def _set_clock(self, piece: Arrived, watermark_us: int) -> None:
        first_us = int(piece.time.min())
        silent = _UNSEEN in self._latest
        if self.clock_us == _UNSEEN or (
            silent and first_us < self.clock_us - self._spec.window_us
        ):
            # Nothing has begun, or it began with a row from the future.
            self.clock_us = max(first_us, watermark_us)
            self._words[:] = 0
            self.models = self._open()
            self.models.begin(self.clock_us)
        for stream, latest in enumerate(self._latest):
            own = piece.time[piece.stream == stream]
            self._latest[stream] = max(latest, int(own.max(initial=_UNSEEN)))
        reached = max(watermark_us, min(self._latest))
        lead = self._spec.window_us // _LEAD
        self.clock_us = max(self.clock_us, min(max(self._latest), reached + lead))

    def _open(self) -> SeveralModels:
        return SeveralModels(
            self._spec.keeps_us,
            self._capacity_rows,
            words=self._words,
            reach=reach(self._spec),
        )
