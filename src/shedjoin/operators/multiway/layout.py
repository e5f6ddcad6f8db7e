"""The columns of a stream that its residents are found by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shedjoin.columns.codes import order_codes
from shedjoin.columns.hot import Hot
from shedjoin.kernels.ranges import COLUMNS, KEY, LEAD, PLACE, TIME
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.terms import BandTerm, CompareTerm, compared
from shedjoin.types import IntArray, IntGrid


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns of the tiers of one stream.

    Rows of a key are sorted by the column ``lead``, by time if there is none. The other
    columns that are compared are ``values``.
    """

    lead: str | None
    values: tuple[str, ...]

    @staticmethod
    def of(spec: JoinSpec, stream: int) -> Layout:
        """Lay the columns of a stream out, that of the most selective term first."""
        found: dict[str, int] = {}
        for _, term, column in compared(spec.terms, stream):
            found[column] = min(found.get(column, _LAST), _rank(term))
        lead = min(found, key=lambda column: found[column], default=None)
        if lead is not None and found[lead] == _LAST:
            lead = None
        return Layout(lead, tuple(column for column in found if column != lead))

    @property
    def width(self) -> int:
        """How many columns there are."""
        return COLUMNS + len(self.values)

    def place_of(self, column: str) -> int:
        """Number of a column in the tiers."""
        return LEAD if column == self.lead else COLUMNS + self.values.index(column)

    def columns(self, rows: pa.RecordBatch, hot: Hot, place: IntArray) -> IntGrid:
        """Columns of some rows."""
        grid = np.empty((self.width, rows.num_rows), np.int64)
        grid[KEY], grid[TIME], grid[PLACE] = hot.key, hot.time, place
        grid[LEAD] = grid[TIME] if self.lead is None else _codes(rows, self.lead)
        for column in self.values:
            grid[self.place_of(column)] = _codes(rows, column)
        return grid


_LAST = 3


def _rank(term: BandTerm | CompareTerm) -> int:
    """How few rows a term lets through; those that differ are no range."""
    if isinstance(term, BandTerm):
        return 0
    return {"=": 1, "!=": _LAST}.get(term.operator, 2)


def _codes(rows: pa.RecordBatch, column: str) -> IntArray:
    return order_codes(rows.column(column))
