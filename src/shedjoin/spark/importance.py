"""Importance of rows as Spark expressions."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import cast

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

from shedjoin.errors import ParameterError
from shedjoin.spark.names import name_fold, quoted
from shedjoin.spec.importance import ByCategory, ByRange, by_stream


def stream_importances(
    importance: object, frames: Mapping[str, DataFrame]
) -> list[Column | None]:
    """Importance of each stream as an expression over its own columns."""
    if importance is None:
        return [None] * len(frames)
    columns = {name: frame.columns for name, frame in frames.items()}
    fold = name_fold(next(iter(frames.values())))
    sources = by_stream(importance, columns, fold)
    return [
        _expression(source, name, frame)
        for source, (name, frame) in zip(sources, frames.items(), strict=True)
    ]


def _expression(source: object, side: str, frame: DataFrame) -> Column | None:
    if source is None or hasattr(source, "isNotNull"):  # a Column, classic or Connect
        return cast("Column | None", source)
    name = source if isinstance(source, str) else getattr(source, "column", None)
    if name is None:
        raise ParameterError(
            f"importance {source!r} of the {side} stream is not known.",
            fix="pass a column name, a Spark Column, a ByCategory or a ByRange.",
        )
    column = quoted(frame, name, side)
    if isinstance(source, ByCategory):
        table = F.create_map(
            *chain.from_iterable((F.lit(c), F.lit(float(w))) for c, w in source.weights)
        )
        return F.coalesce(table[column], F.lit(float(source.default)))
    if isinstance(source, ByRange):
        return _stretches(source, column)
    return column


def _stretches(source: ByRange, column: Column) -> Column:
    first, *others = zip(source.edges, source.weights, strict=False)
    found = F.when(column < first[0], first[1])
    for edge, weight in others:
        found = found.when(column < edge, weight)
    return found.when(column.isNotNull(), source.weights[-1])
