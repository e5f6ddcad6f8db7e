"""Importance of rows: from a column, by category, or by range of values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError
from shedjoin.spec.keys import Fold, resolve_columns
from shedjoin.types import FloatArray

_LARGEST = 1e150


@dataclass(frozen=True, slots=True)
class ByCategory:
    """Importance of categories.

    Parameters
    ----------
    column : str
        Column with the categories.
    weights : mapping
        Importance of each category.
    default : float, default 0.0
        Importance of all other categories.

    Examples
    --------
    >>> news = ByCategory("category", {"politics": 5.0, "sports": 2.0}, default=1.0)
    >>> news.weight("politics"), news.weight("weather")
    (5.0, 1.0)
    """

    column: str
    weights: tuple[tuple[Any, float], ...]
    default: float = 0.0

    def __init__(
        self, column: str, weights: Mapping[Any, float], default: float = 0.0
    ) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "weights", tuple(dict(weights).items()))
        object.__setattr__(self, "default", default)

    def weight(self, value: object) -> float:
        """Importance of one category."""
        weights: dict[object, float] = dict(self.weights)
        return weights.get(value, self.default)


@dataclass(frozen=True, slots=True)
class ByRange:
    """Importance of ordered values: one weight for each range between two edges.

    Parameters
    ----------
    column : str
        Column with the values.
    edges : sequence of numbers
        Limits between the ranges, in ascending order. A value on an edge belongs to the
        range above it.
    weights : sequence of float
        One weight for values below the first edge, one for each range between two
        edges, and one for values from the last edge on.

    Examples
    --------
    >>> heat = ByRange("celsius", edges=[30, 40], weights=[1.0, 5.0, 50.0])
    >>> heat.weight(20), heat.weight(30), heat.weight(90)
    (1.0, 5.0, 50.0)
    """

    column: str
    edges: tuple[float, ...]
    weights: tuple[float, ...]

    def __init__(
        self, column: str, edges: Sequence[float], weights: Sequence[float]
    ) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "edges", tuple(edges))
        object.__setattr__(self, "weights", tuple(weights))
        if len(self.weights) != len(self.edges) + 1 or list(edges) != sorted(edges):
            raise ParameterError(
                f"ByRange has {len(self.edges)} edges and {len(self.weights)} weights"
                ", or edges that do not rise.",
                fix="give one weight more than edges, and edges from low to high.",
            )

    def weight(self, value: float) -> float:
        """Importance of one value."""
        return self.weights[bisect_right(self.edges, value)]


Source: TypeAlias = str | ByCategory | ByRange


@dataclass(frozen=True, slots=True)
class Importances:
    """Importance of streams by name. Streams that are not named have none."""

    sources: tuple[tuple[str, Source | None], ...]

    def of(self, stream: str) -> Source | None:
        """Importance of one stream."""
        return dict(self.sources).get(stream)


def by_stream(
    importance: object, columns: Mapping[str, Sequence[str]], fold: Fold = str
) -> list[Any]:
    """Importance of each stream. A single column is for all streams that have it.

    >>> by_stream({"b": "bid"}, {"a": ["x"], "b": ["bid"]})
    [None, 'bid']
    >>> by_stream((None, "bid"), {"left": ["x"], "right": ["bid"]})
    [None, 'bid']
    """
    fix = f"pass the importance of some streams: {{{next(iter(columns))!r}: ...}}."
    if isinstance(importance, tuple):
        if len(importance) != len(columns):
            raise ParameterError(
                f"keep= goes by {importance!r}, which is not one for each of "
                f"{', '.join(columns)}.",
                fix=fix,
            )
        importance = dict(zip(columns, importance, strict=True))
    if isinstance(importance, Mapping):
        odd = [name for name in importance if name not in columns]
        if odd:
            raise ParameterError(
                f"importance of {odd[0]!r}, but the streams are {list(columns)}.",
                fix=fix,
            )
        for name, source in importance.items():
            column = _column(source)
            if column is not None:
                resolve_columns(name, [column], columns[name], fold)
        return [importance.get(name) for name in columns]
    return _of_all(importance, columns, fold, fix)


def _of_all(
    importance: object, columns: Mapping[str, Sequence[str]], fold: Fold, fix: str
) -> list[Any]:
    column = _column(importance)
    if column is None:
        raise ParameterError(
            f"keep= goes by {importance!r}, which does not say of which stream it is.",
            fix=fix,
        )
    there = [fold(column) in map(fold, own) for own in columns.values()]
    if not any(there):
        known = "; ".join(f"{name} has {list(own)}" for name, own in columns.items())
        raise ColumnError(
            f"keep= goes by the column {column!r}, which no stream has.",
            fix=f"name a column of a stream: {known}.",
        )
    return [importance if has else None for has in there]


def evaluate(source: Source, rows: pa.RecordBatch) -> pa.Array:
    """Importance of each row; null where the column is null."""
    column = rows.column(source if isinstance(source, str) else source.column)
    if isinstance(source, str):
        try:
            return column.cast(pa.float64(), safe=False)  # large integers are rounded
        except pa.ArrowException as error:
            raise ColumnTypeError(
                f"keep= goes by the column {source!r}, which is of type {column.type}.",
                fix=f'pass a column of numbers, or ByCategory("{source}", {{...}}).',
            ) from error
    if isinstance(source, ByCategory):
        categories = [category for category, _ in source.weights]
        weights = pa.array([weight for _, weight in source.weights], pa.float64())
        at = pc.index_in(column, pa.array(categories, column.type))
        return pc.fill_null(weights.take(at), source.default)
    at = np.searchsorted(
        source.edges,
        column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False),
        "right",
    )
    nulls = column.is_null().to_numpy(zero_copy_only=False)
    return pa.array(np.array(source.weights)[at], mask=nulls)


def importance_of(source: Source | None, rows: pa.RecordBatch) -> FloatArray:
    """Importance of each row, 0 where it is null or NaN; infinite without a source."""
    if source is None:
        return np.full(rows.num_rows, np.inf)
    column = evaluate(source, rows).cast(pa.float64()).fill_null(0.0)
    found: FloatArray = column.to_numpy(zero_copy_only=False)
    # Sums and products of importance must stay finite.
    return np.clip(np.nan_to_num(found, nan=0.0), -_LARGEST, _LARGEST)


def _column(importance: object) -> str | None:
    """Name of the column, or None. A Spark Column seems to have any attribute."""
    column = getattr(importance, "column", importance)
    return column if isinstance(column, str) else None
