"""What rows are counted by: rows with the same of it match, as far as times allow."""

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
    """Whether rows that are counted alike match, and so tell how many results are."""
    return all(isinstance(term, BandTerm) for term in spec.terms)


def reach(spec: JoinSpec) -> int:
    """How many keys up and down rows that are counted otherwise may match, too."""
    eps = [term.eps for term in spec.terms if isinstance(term, BandTerm)]
    return 1 if eps and eps[-1] else 0


def counted_keys(
    spec: JoinSpec, stream: int, layout: Layout, columns: IntGrid
) -> IntArray:
    """Key of each row, and the cells of its values where the join has a Band.

    A cell is as wide as ``eps``, so all values of a cell are near each other, and what
    is near to one of them lies there or in the neighbours, of the last Band one key up
    and one down.
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
    # What is no number is near nothing, and may lie anywhere.
    known: IntArray = np.clip(np.nan_to_num(cells), -_FAR, _FAR).astype(np.int64)
    return known
