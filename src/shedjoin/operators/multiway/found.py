"""Counts the results of a join with a memory budget, while they are found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.columns.hot import hot_columns
from shedjoin.models.meter import Results
from shedjoin.models.words import reals
from shedjoin.operators.frame.results import gathered
from shedjoin.operators.frame.worth import combined
from shedjoin.operators.multiway.bounded_store import BoundedStore
from shedjoin.operators.multiway.counted import counted_keys, is_counted
from shedjoin.operators.multiway.layout import WORTH, WORTH_COLUMN
from shedjoin.operators.multiway.partial import Met
from shedjoin.spec.shedding import Combine
from shedjoin.types import BoolArray, FloatArray, IntArray

_ENOUGH = 256
"""Approximate number of results per call whose counted keys are compared."""


class Asking(NamedTuple):
    """Arrivals of one stream: positions in the block, counted keys and importance.

    For ``watched`` arrivals, the counted keys of all results are compared.
    """

    at: IntArray
    key: IntArray
    watched: BoolArray
    worth: FloatArray


class Found:
    """Counts the importance of results, and the results that models can estimate.

    Models can estimate results whose rows all have the same counted key. With a Band,
    these are the results whose rows are all in one cell. The number of these results is
    estimated from a sample of all results. For watched arrivals, it is counted exactly.

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
        self.alike = self.alike_importance = 0.0
        self.importance = 0.0
        self.is_valued = [
            bool(np.isfinite(reals(windows.column(WORTH))).any())
            for windows in store.windows
        ]
        self.begin_block(0)

    def begin_block(self, rows: int) -> None:
        """Begin to count the results of each arrival of a block of ``rows`` rows."""
        self.results = Results(np.zeros(rows), np.zeros(rows))

    def note(self, met: Met, asking: Asking) -> None:
        """Count results that were found for arrivals of one stream."""
        alike = np.ones(met.arrival.size)
        if self._by_cell and alike.size:
            some = np.arange(0, alike.size, max(1, alike.size // _ENOUGH))
            alike[:] = self._is_alike(met.take(some), asking.key).mean()
            some = np.flatnonzero(asking.watched[met.arrival])
            alike[some] = self._is_alike(met.take(some), asking.key)
        worth = [asking.worth[met.arrival]] + [
            self.store.column(stream, place, WORTH_COLUMN).to_numpy()
            for stream, place in met.places.items()
            if self.is_valued[stream]
        ]
        gained = combined(worth, self._combine)
        self.alike += float(alike.sum())
        self.alike_importance += float(alike @ gained)
        self.importance += float(gained.sum())
        rows = asking.at.size
        found, total = self.results
        found[asking.at] += np.bincount(met.arrival, alike, minlength=rows)
        total[asking.at] += np.bincount(met.arrival, alike * gained, minlength=rows)

    def _is_alike(self, met: Met, key: IntArray) -> FloatArray:
        """For each result, 1 if all of its rows have the same counted key, else 0."""
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
