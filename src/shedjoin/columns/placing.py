"""Placing: finds the shards to which each row is sent.

With a key, a row goes to the shard of its key. Without a key, the first stream of the
join is the *anchor*: each of its rows goes to one shard. Rows of other streams are
copied to every shard in which a row of the anchor could match them. So all rows of a
result meet in the shard of its anchor row, and nowhere else.

The shards depend only on the values of a row. So a task that is retried places each row
as before, even if it gets the rows in another order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.bounds import band_bounds
from shedjoin.columns.codes import codes_of, order_codes, values_of
from shedjoin.columns.hashing import hash_rows, is_hashed
from shedjoin.columns.hot import Hot
from shedjoin.columns.mixing import mixed_bits
from shedjoin.spec.cells import Cells
from shedjoin.spec.streams import ANCHOR, JoinSpec
from shedjoin.spec.terms import BandTerm
from shedjoin.types import IntArray

_WIDTH = 8
"""If no cells are given, each cell is this many times as wide as ``eps``. Then about
one row in four is copied to a second cell."""
_FAR = float(1 << 50)
"""Number of cells of that width on each side of zero."""


class Placed(NamedTuple):
    """Rows and the shard of each copy.

    ``row`` is None if each row has exactly one copy. If ``row`` is None and ``shard``
    is empty, all rows go to all shards.
    """

    row: IntArray | None
    shard: IntArray


def placed(rows: pa.RecordBatch, hot: Hot, stream: int, spec: JoinSpec) -> Placed:
    """Find the shards of the rows of a stream."""
    if spec.placement == "key" or spec.shards == 1:
        return Placed(None, shard_of(hot.key, spec.shards))
    if spec.placement in ("copies", "relation"):
        # A relation row is in the shard of its right key. That shard does not follow
        # from the left key, so left rows are copied to all shards.
        copied = (stream == ANCHOR) == (spec.placement == "relation")
        if copied:
            return Placed(None, np.zeros(0, np.int64))
        key = content(rows) if spec.placement == "copies" else hot.key
        return Placed(None, shard_of(key, spec.shards))
    term = next(term for term in spec.terms if isinstance(term, BandTerm))
    codes = order_codes(rows.column(term.columns[stream]))
    low = high = codes
    if stream != ANCHOR:
        low, high, _ = band_bounds(term, codes)
    if term.kind != "integer":
        # NaN and infinity match no value, so these rows may be in any shard.
        lone = ~np.isfinite(values_of(codes, term.kind))
        low, high = np.where(lone, 0, low), np.where(lone, 0, high)
    if spec.cells is None:
        return _in_even_cells(low, high, term, spec.shards)
    first, last = (_cell_of(end, term, spec.cells) for end in (low, high))
    pieces = np.array(spec.cells.pieces)
    starts = np.cumsum(pieces) - pieces
    if stream == ANCHOR:
        part = shard_of(content(rows), 1 << 20) % pieces[first]
        return Placed(None, (starts[first] + part) % spec.shards)
    return _copied(starts[first], starts[last] + pieces[last] - 1, spec.shards)


def shard_of(key: IntArray, shards: int) -> IntArray:
    """Shard of each key, from the high bits of its mixed bits.

    The low bits are not used for this, because the hash index uses them.
    """
    high = mixed_bits(key.view(np.uint64)) >> np.uint64(33)
    return ((high * np.uint64(shards)) >> np.uint64(31)).view(np.int64)


def _cell_of(codes: IntArray, term: BandTerm, cells: Cells) -> IntArray:
    """Cell of each value; a value on an edge belongs to the cell above."""
    if term.kind == "integer":
        edges = np.array([_as_int64(edge) for edge in cells.edges], np.int64)
    else:
        real = values_of(codes[:0], term.kind).dtype
        with np.errstate(over="ignore"):
            edges = codes_of(np.array(cells.edges, real))
    return np.searchsorted(edges, codes, side="right")


def _in_even_cells(
    low: IntArray, high: IntArray, term: BandTerm, shards: int
) -> Placed:
    """Copies for all cells from ``low`` to ``high``, if no cells are given.

    Cell numbers may be rounded, because greater values never get lower numbers.
    """
    first, last = (_even_cell(end, term) for end in (low, high))
    row, cell = between(first, last)
    shard = shard_of(cell, shards)
    if row.size == low.size:
        return Placed(None, shard)
    # Two cells may lie in the same shard, but a row must get there only once.
    once = np.ones(row.size, np.bool_)
    once[1:] = (row[1:] != row[:-1]) | (shard[1:] != shard[:-1])
    if (last - first).max() <= 1:
        return Placed(row[once], shard[once])
    pairs = np.unique(row * shards + shard)
    return Placed(pairs // shards, pairs % shards)


def _even_cell(codes: IntArray, term: BandTerm) -> IntArray:
    if term.eps == 0:
        return codes
    if term.kind == "integer":
        return codes // _as_int64(_WIDTH * int(term.eps))
    values = values_of(codes, term.kind).astype(np.float64)
    with np.errstate(over="ignore"):
        far = np.abs(values) / (_WIDTH * term.eps)
    even = np.floor(np.copysign(np.minimum(far, _FAR), values)).astype(np.int64)
    # Larger neighbouring numbers are more than eps apart. So each is a cell by itself.
    last = codes_of(np.array([_FAR * _WIDTH * term.eps]))
    beyond = int(_FAR) + np.maximum(codes_of(np.abs(values)) - last, 0)
    return np.where(far < _FAR, even, np.where(values < 0, -beyond, beyond))


def _copied(first: IntArray, last: IntArray, shards: int) -> Placed:
    """Copies for all pieces from ``first`` to ``last``; shards take pieces in turn."""
    row, place = between(first, np.minimum(last, first + shards - 1))
    return Placed(row, place % shards)


def between(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """List the numbers from ``first`` to ``last`` of each row, with their rows."""
    counts = last - first + 1
    row = np.repeat(np.arange(first.size), counts)
    place = np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return row, first[row] + place


def content(rows: pa.RecordBatch) -> IntArray:
    """Hash of each row over all columns that can be hashed."""
    return hash_rows([each for each in rows.columns if is_hashed(each.type)])


def _as_int64(value: float) -> int:
    ends = np.iinfo(np.int64)
    return max(ends.min, min(ends.max, int(value)))
