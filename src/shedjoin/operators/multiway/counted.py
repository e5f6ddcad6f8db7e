"""Computes the keys under which models count rows.

If all terms are Bands, rows with equal counted keys match if their times allow it.
"""

from __future__ import annotations

import numpy as np

from shedjoin.columns.codes import values_of
from shedjoin.columns.mixing import mixed_bits
from shedjoin.kernels.ranges import KEY
from shedjoin.operators.multiway.layout import Layout
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.terms import BandTerm
from shedjoin.types import IntArray, IntGrid

_FAR = float(1 << 62)
_MOST = np.iinfo(np.int64).max


def is_counted(spec: JoinSpec) -> bool:
    """Whether rows with equal counted keys match, so that counts predict results."""
    return all(isinstance(term, BandTerm) for term in spec.terms)


def reach(spec: JoinSpec) -> int:
    """Greatest difference of counted keys at which rows may still match."""
    eps = [term.eps for term in spec.terms if isinstance(term, BandTerm)]
    return 1 if eps and eps[-1] else 0


def counted_keys(
    spec: JoinSpec, stream: int, layout: Layout, columns: IntGrid
) -> IntArray:
    """Key under which each row is counted.

    If the join has a Band, this is the key of the row, mixed with the cells of its
    values. A cell is as wide as ``eps``, so all values of a cell match each other. Two
    values that match are in the same cell or in adjacent cells. If two rows differ only
    in the cell of the last Band, and these cells are adjacent, their counted keys
    differ by 1.
    """
    key: IntArray = columns[KEY]
    for term in spec.terms:
        if isinstance(term, BandTerm):
            codes = columns[layout.place_of(term.columns[stream])]
            cell = _cells(codes, term).view(np.uint64)
            key = (mixed_bits(key.view(np.uint64)) + cell).view(np.int64)
    return key


def _cells(codes: IntArray, term: BandTerm) -> IntArray:
    if term.eps == 0:
        return np.ascontiguousarray(codes)
    if term.kind == "integer":
        return codes // min(_MOST, int(term.eps) + 1)
    values = values_of(codes, term.kind).astype(np.float64)
    with np.errstate(over="ignore"):
        cells = np.floor(values / term.eps)
    # NaN and infinity match no value by a Band, so they may be in any cell.
    known: IntArray = np.clip(np.nan_to_num(cells), -_FAR, _FAR).astype(np.int64)
    return known
