"""Tests results by the values of their columns.

The function of a Where needs the values themselves. A comparison needs them if there
are no order codes for the values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.columns.arrivals import Chunk
from shedjoin.errors import ParameterError
from shedjoin.operators.multiway.partial import Met, Partial
from shedjoin.operators.multiway.store import MultiwayStore
from shedjoin.spec.terms import CheckTerm
from shedjoin.types import BoolArray, IntArray

_COMPARED: dict[str, Callable[[pa.Array, pa.Array], pa.Array]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


_Met = TypeVar("_Met", Met, Partial)


class Checks:
    """The tests of a join, for partial results of one chunk of arrivals.

    Parameters
    ----------
    store : MultiwayStore
        The residents.
    chunk : Chunk
        The arrivals.
    """

    def __init__(self, store: MultiwayStore, chunk: Chunk) -> None:
        self._store = store
        self._chunk = chunk
        terms = store.spec.terms
        self._terms = [term for term in terms if isinstance(term, CheckTerm)]

    def passed(self, met: _Met, stream: int) -> tuple[_Met, IntArray]:
        """Results that pass the tests that became possible by joining ``stream``.

        Also return the indices of these results.
        """
        bound = {self._chunk.stream, *met.places}
        which = np.arange(met.arrival.size)
        for term in self._terms:
            due = stream in term.streams and bound.issuperset(term.streams)
            if due and met.arrival.size:
                kept = np.flatnonzero(self._held(met, term))
                met, which = met.take(kept), which[kept]
        return met, which

    def _held(self, met: Partial | Met, term: CheckTerm) -> BoolArray:
        """For each result, whether it passes a test.

        If a column would be too large, the results are tested in halves.
        """
        try:
            values = [
                self._values(met, own, column)
                for own, column in zip(term.streams, term.columns, strict=True)
            ]
        except pa.ArrowInvalid:  # over 2 GiB of text in one column
            size = met.arrival.size
            if size == 1:
                raise
            halves = np.split(np.arange(size), [size // 2])
            return np.concatenate([self._held(met.take(h), term) for h in halves])
        return _answer(term, values)

    def _values(self, met: Partial | Met, stream: int, column: str) -> pa.Array:
        """Values of one column of one stream, in the order of the results."""
        if stream == self._chunk.stream:
            return self._chunk.rows.column(column).take(pa.array(met.arrival))
        return self._store.column(stream, met.places[stream], column)


def _answer(term: CheckTerm, values: list[pa.Array]) -> BoolArray:
    if isinstance(term.test, str):
        answer: BoolArray = _COMPARED[term.test](*values).to_numpy(zero_copy_only=False)
        return answer
    found = np.asarray(
        term.test(*(each.to_numpy(zero_copy_only=False) for each in values))
    )
    if found.dtype != np.bool_ or found.shape != (len(values[0]),):
        raise ParameterError(
            f"the function of a Where gave {found.dtype} of shape {found.shape} for "
            f"{len(values[0])} rows.",
            fix="let it compare whole arrays and return an array of booleans.",
        )
    return found
