"""What is counted of results as they are found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.columns.hot import hot_columns
from shedjoin.models.words import reals
from shedjoin.operators.frame.results import gathered
from shedjoin.operators.frame.worth import combined
from shedjoin.operators.multiway.bounded_store import BoundedStore
from shedjoin.operators.multiway.counted import counted_keys, is_counted
from shedjoin.operators.multiway.layout import WORTH, WORTH_COLUMN
from shedjoin.operators.multiway.partial import Met
from shedjoin.spec.shedding import Combine
from shedjoin.types import FloatArray, IntArray

_ENOUGH = 256
"""Of so many results at once it is looked whether their rows are counted alike."""


class Asking(NamedTuple):
    """Arrivals: what they are counted by, what their results stand for, their worth."""

    key: IntArray
    weight: FloatArray
    worth: FloatArray


class Found:
    """Importance of results, and how many have rows that are counted alike.

    Of a Band, these are results whose rows all lie in one cell. ``alike`` is how many
    there are, told from some of them, and ``monitored`` how many those of monitored
    keys stand for.

    Parameters
    ----------
    store : BoundedStore
        The residents.
    """

    def __init__(self, store: BoundedStore) -> None:
        self.store = store
        shedding = store.spec.shedding
        self._combine: Combine = "min" if shedding is None else shedding.combine
        self._by_cell = bool(store.spec.terms) and is_counted(store.spec)
        self.monitored = self.alike = 0.0
        self.importance = 0.0
        self.is_valued = [
            bool(np.isfinite(reals(windows.column(WORTH))).any())
            for windows in store.windows
        ]

    def note(self, met: Met, asking: Asking) -> None:
        """Count some results."""
        weight = asking.weight[met.arrival]
        alike = float(weight.size)
        if self._by_cell:
            some = np.arange(0, weight.size, max(1, weight.size // _ENOUGH))
            alike *= self._is_alike(met.take(some), asking.key).mean()
            some = np.flatnonzero(weight)
            weight = weight[some] * self._is_alike(met.take(some), asking.key)
        self.alike += alike
        self.monitored += float(weight.sum())
        worth = [asking.worth[met.arrival]] + [
            self.store.column(stream, place, WORTH_COLUMN).to_numpy()
            for stream, place in met.places.items()
            if self.is_valued[stream]
        ]
        self.importance += float(combined(worth, self._combine).sum())

    def _is_alike(self, met: Met, key: IntArray) -> FloatArray:
        """1 for results whose rows are all counted by the same, else 0."""
        alike, store = np.ones(met.arrival.size), self.store
        if not alike.size:
            return alike
        for stream, place in met.places.items():
            rows = gathered(store.by_segment(stream, place), place.size)
            hot = hot_columns(
                rows, store.spec.streams[stream], direct=store.spec.direct
            )
            layout = store.layouts[stream]
            columns = layout.columns(rows, hot, place)
            own = counted_keys(store.spec, stream, layout, columns)
            alike *= own == key[met.arrival]
        return alike
