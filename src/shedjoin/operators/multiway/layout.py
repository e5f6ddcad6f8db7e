"""Chooses and computes the columns by which the residents of a stream are found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shedjoin.columns.codes import order_codes
from shedjoin.columns.hot import Hot, as_int64
from shedjoin.kernels.ranges import COLUMNS, KEY, LEAD, PLACE, TIME
from shedjoin.operators.frame.ordered import budget_sizes
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.terms import BandTerm, CompareTerm, compared
from shedjoin.types import FloatArray, IntArray, IntGrid

NUMBER, SIZE, WORTH = -3, -2, -1
"""Further columns of tiers in a join with a memory budget: the arrival number of a row,
its bytes, and the bits of its importance."""
NUMBER_COLUMN, WORTH_COLUMN = "__shedjoin_number", "__shedjoin_worth"
ADDED = NUMBER_COLUMN, WORTH_COLUMN
"""Columns that are added to rows in a join with a memory budget. They are stored with
the rows."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns of the tiers of one stream.

    Rows of a key are sorted by the column ``lead``, or by time if ``lead`` is None.
    ``values`` are the other columns that are compared. With a memory budget, the last
    three columns are number, size and importance of a row.
    """

    lead: str | None
    values: tuple[str, ...]
    bounded: bool = False

    @staticmethod
    def of(spec: JoinSpec, stream: int, *, bounded: bool = False) -> Layout:
        """Choose the columns; the lead is the column of the most selective term."""
        found: dict[str, int] = {}
        for _, term, column in compared(spec.terms, stream):
            found[column] = min(found.get(column, _LAST), _rank(term))
        lead = min(found, key=lambda column: found[column], default=None)
        if lead is not None and found[lead] == _LAST:
            lead = None
        values = tuple(column for column in found if column != lead)
        return Layout(lead, values, bounded)

    @property
    def width(self) -> int:
        """Number of columns."""
        return COLUMNS + len(self.values) + 3 * self.bounded

    @property
    def row_bytes(self) -> int:
        """Bytes that the columns of a row take."""
        return 8 * self.width

    def place_of(self, column: str) -> int:
        """Position of a column in the tiers."""
        return LEAD if column == self.lead else COLUMNS + self.values.index(column)

    def columns(self, rows: pa.RecordBatch, hot: Hot, place: IntArray) -> IntGrid:
        """Columns of rows in this layout, given their keys, times and places."""
        grid = np.empty((self.width, rows.num_rows), np.int64)
        grid[KEY], grid[TIME], grid[PLACE] = hot.key, hot.time, place
        grid[LEAD] = grid[TIME] if self.lead is None else _codes(rows, self.lead)
        for column in self.values:
            grid[self.place_of(column)] = _codes(rows, column)
        if self.bounded:
            grid[NUMBER] = as_int64(rows.column(NUMBER_COLUMN))
            grid[SIZE] = budget_sizes(rows, self.row_bytes)
            grid[WORTH] = as_int64(rows.column(WORTH_COLUMN).view(pa.int64()))
        return grid


def numbered(
    rows: pa.RecordBatch, number: IntArray, worth: FloatArray
) -> pa.RecordBatch:
    """Add arrival numbers and importances to rows."""
    added = [pa.array(number), pa.array(worth)]
    names = [*rows.schema.names, *ADDED]
    return pa.RecordBatch.from_arrays([*rows.columns, *added], names)


_LAST = 3


def _rank(term: BandTerm | CompareTerm) -> int:
    """Rank of a term: the fewer rows a term is expected to select, the lower its rank.

    ``!=`` has the highest rank, because the values that it selects are not one range.
    """
    if isinstance(term, BandTerm):
        return 0
    return {"=": 1, "!=": _LAST}.get(term.operator, 2)


def _codes(rows: pa.RecordBatch, column: str) -> IntArray:
    return order_codes(rows.column(column))
