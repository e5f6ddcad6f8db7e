"""Finds cells of a band: ranges of values, computed from a sample of the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shedjoin.columns.codes import kind_of_type, order_codes, values_of
from shedjoin.columns.terms import check_distances, distance_of
from shedjoin.errors import ParameterError
from shedjoin.spec.cells import Cells
from shedjoin.spec.predicates import Band

_NARROWEST = 2
"""Least width of a cell, as a multiple of ``eps``. With narrower cells, copied rows
would cost more than is gained by spreading the load."""


def cells_of(values: pa.Array | pa.ChunkedArray, band: Band, shards: int) -> Cells:
    """Cut values into cells of equal load.

    Cells end at quantiles of the values, but no cell is narrower than two ``eps``.
    Where many values lie close together, a cell can still hold more than its share.
    Such a cell is split into pieces.

    Parameters
    ----------
    values : pyarrow.Array or pyarrow.ChunkedArray
        A sample of the column, a few thousand values. From a Spark DataFrame, take
        ``df.select("price").sample(0.01).toArrow()["price"]``.
    band : Band
        The band predicate of the join.
    shards : int
        Number of shards of the join.

    Returns
    -------
    Cells
        For ``Options(cells=...)`` of :func:`shedjoin.join` and
        :func:`shedjoin.multijoin`.

    Examples
    --------
    >>> crowded = pa.array([0.0] * 500 + [float(n) for n in range(1000)])
    >>> cells_of(crowded, Band("x", 1.0), shards=3)
    Cells([2, 500], pieces=[1, 1, 1])
    >>> cells_of(crowded, Band("x", 300.0), shards=3)
    Cells([600], pieces=[2, 1])
    """
    given: tuple[object, object] = (values, band)
    columns = pa.Array | pa.ChunkedArray
    if not (isinstance(given[0], columns) and isinstance(given[1], Band)):
        raise ParameterError(
            f"cells of {type(values).__name__} for {band!r} are not known.",
            fix="pass a column of pyarrow and a Band: "
            'cells_of(table["x"], Band("x", 1), shards=4).',
        )
    check_distances(band, [values.type])
    numbers = _finite(values)
    if not numbers.size or type(shards) is not int or shards < 1:
        raise ParameterError(
            f"{numbers.size} finite values and shards={shards!r} make no cells.",
            fix="pass a sample of the column and the number of shards of the join.",
        )
    least_width = _NARROWEST * distance_of(band, values.type)
    before, greatest = numbers[0].item(), numbers[-1].item()
    edges: list[float] = []
    for wanted in numbers[np.arange(1, shards) * numbers.size // shards].tolist():
        if wanted >= before:
            edge = max(wanted, before + least_width)
            if before < edge <= greatest:
                edges.append(edge)
                before = edge
    cells = np.searchsorted(np.array(edges, numbers.dtype), numbers, side="right")
    share = np.bincount(cells, minlength=len(edges) + 1) / numbers.size
    pieces = np.maximum(1, np.rint(share * shards).astype(int))
    return Cells(edges, pieces.tolist())


def _finite(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """Finite numbers of a column, sorted."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    kind = kind_of_type(values.type)
    codes = np.sort(order_codes(values.drop_null()))
    if kind is None or kind == "integer":
        return codes
    numbers = values_of(codes, kind)
    return numbers[np.isfinite(numbers)]
