"""Updates the models and the clock of a shard with a memory budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from shedjoin.models.learned import Models
from shedjoin.models.meter import Results
from shedjoin.operators.frame.kept_models import KeptModels
from shedjoin.operators.frame.limits import advanced
from shedjoin.operators.multiway.counted import is_counted
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import BoolArray, FloatArray, IntArray

_UNSEEN = np.iinfo(np.int64).min
_LEAD = 16
"""The clock is at most a 16th of the window ahead of the time that all streams have
reached."""
_PAIR = 2
_PIECE = 1 << 10
"""Greatest number of arrivals that the models count at once."""
_SPANS = 64
"""With three or more streams, a piece spans at most a 64th of the window. Within a
piece, the models may count rows as matching although their times are too far apart."""


class Arrived(NamedTuple):
    """Arrivals of all streams by time; models count an arrival under its ``key``."""

    stream: IntArray
    key: IntArray
    time: IntArray
    importance: FloatArray
    size: IntArray

    def part(self, at: slice) -> Arrived:
        """Select some of the arrivals."""
        return Arrived._make(column[at] for column in self)


class Learning:
    """Models and clock of one shard.

    The clock is the greatest event time so far, but at most a little later than the
    time that all streams have reached. So one row with a time far in the future does
    not make all other rows old.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    kept : KeptModels
        The models.
    facts : dict, optional
        What :meth:`facts` returned when the state was stored.
    """

    def __init__(
        self, spec: JoinSpec, kept: KeptModels, facts: dict[str, Any] | None = None
    ) -> None:
        self._spec = spec
        self.kept = kept
        self.is_counted = is_counted(spec)
        facts = facts or {}
        self.clock_us: int = facts.get("clock_us", _UNSEEN)
        # A copy, so that a retry of the micro-batch starts from the same facts.
        self._latest = list(facts.get("latest", [_UNSEEN] * len(spec.streams)))

    @property
    def models(self) -> Models:
        """The models of the shard."""
        return self.kept.models

    def facts(self) -> dict[str, Any]:
        """Facts to store in addition to the models."""
        return {"clock_us": self.clock_us, "latest": list(self._latest)}

    def watched(self, arrived: Arrived) -> BoolArray:
        """For each arrival, whether its results must be counted one by one."""
        if not self.is_counted:
            return np.zeros(arrived.key.size, np.bool_)
        return self.models.make_room(arrived.stream, arrived.key)

    def observe(
        self,
        arrived: Arrived,
        watermark_ms: int,
        watched: BoolArray,
        results: Results | None = None,
    ) -> None:
        """Count arrivals in the models, with their results if these are given."""
        for at in self._pieces(arrived.time):
            piece = arrived.part(at)
            self._set_clock(piece, 1000 * watermark_ms)
            self.models.observe(
                *piece,
                clock_us=self.clock_us,
                watched=watched[at],
                results=None if results is None else results.part(at),
            )
            self.kept.make_room()

    def _pieces(self, time: IntArray) -> Iterator[slice]:
        """Cut arrivals into pieces with few rows, and if needed with a short span."""
        start, span_us = 0, self._spec.window_us // _SPANS
        while start < time.size:
            end = min(start + _PIECE, time.size)
            if len(self._latest) > _PAIR and time[end - 1] - time[start] > span_us:
                end = int(np.searchsorted(time, time[start] + span_us, side="right"))
            yield slice(start, end)
            start = end

    def _set_clock(self, piece: Arrived, watermark_us: int) -> None:
        first_us = int(piece.time.min())
        silent = _UNSEEN in self._latest
        if self.clock_us == _UNSEEN or (
            silent and first_us < self.clock_us - self._spec.window_us
        ):
            # There is no clock yet, or the first row had a time in the future.
            self.clock_us = max(first_us, watermark_us)
            self.kept.begin(self.clock_us)
        for stream, latest in enumerate(self._latest):
            own = piece.time[piece.stream == stream]
            self._latest[stream] = max(latest, int(own.max(initial=_UNSEEN)))
        reached = max(watermark_us, min(self._latest))
        lead = self._spec.window_us // _LEAD
        self.clock_us = advanced(self.clock_us, self._latest, reached, lead)
