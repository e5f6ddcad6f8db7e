"""Windowed estimates over the weighted rows of a sampled join.

Spark aggregates twice: rows to clusters, and clusters to windows. The formulas are
those of :mod:`shedjoin.sampling.horvitz_thompson`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)
from pyspark.sql.types import NumericType

from shedjoin.errors import ColumnError, ColumnTypeError
from shedjoin.sampling.aggregates import Aggregate, Quantity
from shedjoin.sampling.horvitz_thompson import TRUSTED_FROM
from shedjoin.sampling.student import log_quantile
from shedjoin.spark.event_time import Time, event_time, marked
from shedjoin.spark.names import name_fold, quoted
from shedjoin.spark.variance import (
    Plan,
    cluster_sums,
    effective_clusters,
    interval,
    make_plan,
    nothing_left_out,
    nothing_lost,
    window_sums,
    with_intervals,
)
from shedjoin.spark.windows import Windows, check_columns, group_names, moved_back
from shedjoin.spec.keys import Fold
from shedjoin.spec.streams import CLUSTER_COLUMN, WEIGHT_COLUMN
from shedjoin.spec.window import Duration

_OWN = ("window", "rows", "clusters", "effective_clusters", "trusted")


def estimate(
    results: DataFrame,
    *,
    window: Duration,
    aggregates: Mapping[str, Aggregate],
    time: Time | None,
    slide: Duration | None,
    by: str | Sequence[str],
    level: float,
) -> DataFrame:
    """Estimate aggregates; see :func:`shedjoin.aggregate`."""
    windows = Windows.of(window, slide)
    names = group_names(by)
    _check_names(aggregates, names, name_fold(results))
    _check_sampled(results)
    coefficients = log_quantile(level)
    plan = make_plan(list(aggregates.values()))
    lag_us, rows = _rows(results, time, names, plan)
    groups = [f"group{place}" for place in range(len(names))]
    when = windows.over("time", lag_us)
    clusters = rows.groupBy(when, *groups, "cluster").agg(*cluster_sums(plan))
    totals = clusters.groupBy("window", *groups).agg(*window_sums(plan))
    effective = effective_clusters(plan)
    enough = nothing_left_out() | (effective >= TRUSTED_FROM)
    trusted = nothing_lost() & enough
    return with_intervals(totals, plan, coefficients).select(
        moved_back(lag_us).alias("window"),
        *(F.col(g).alias(name) for g, name in zip(groups, names, strict=True)),
        *(
            column
            for term, name in zip(plan.terms[1:], aggregates, strict=True)
            for column in interval(term, name)
        ),
        F.col("seen0").alias("rows"),
        "clusters",
        effective.alias("effective_clusters"),
        trusted.alias("trusted"),
    )


def _rows(
    results: DataFrame, time: Time | None, by: Sequence[str], plan: Plan
) -> tuple[int, DataFrame]:
    """The needed columns of the rows, under internal names."""
    when = event_time(results, time)
    rows = results.select(
        marked(when, "time", streaming=results.isStreaming),
        quoted(results, WEIGHT_COLUMN).cast("double").alias("weight"),
        quoted(results, CLUSTER_COLUMN).alias("cluster"),
        *(
            quoted(results, name).alias(f"group{n}", metadata={})
            for n, name in enumerate(by)
        ),
        *(
            _number(results, quantity).alias(f"number{n}")
            for n, quantity in enumerate(plan.quantities)
        ),
    )
    return when.lag_us, rows


def _number(results: DataFrame, quantity: Quantity) -> Column:
    """A quantity of every row, null where SQL would skip the row."""
    if quantity.source is None:
        return F.lit(1.0)
    column = quoted(results, quantity.source)
    if quantity.kind == "present":
        return F.when(column.isNotNull(), 1.0)
    check_number(results, column)
    return column.cast("double")


def check_number(results: DataFrame, column: Column) -> None:
    """Refuse a column whose values are not numbers."""
    field = results.select(column).schema[0]
    if not isinstance(field.dataType, NumericType):
        raise ColumnTypeError(
            f"the column {field.name!r} is of type {field.dataType.simpleString()}, "
            "which has no sum.",
            fix=f'pass a number, e.g. Sum(col("{field.name}").cast("double")), or '
            f'Count("{field.name}").',
        )


def _check_names(
    aggregates: Mapping[str, Aggregate], by: list[str], fold: Fold
) -> None:
    names = [*_OWN, *by]
    for name in aggregates:
        names += [name, f"{name}_error", f"{name}_low", f"{name}_high"]
    check_columns(names, _OWN, fold)


def _check_sampled(results: DataFrame) -> None:
    missing = [
        name for name in (WEIGHT_COLUMN, CLUSTER_COLUMN) if name not in results.columns
    ]
    if missing:
        raise ColumnError(
            f"the results have no column {missing[0]!r}: they do not say how likely "
            "each row was to be kept.",
            fix=f"keep {WEIGHT_COLUMN!r} and {CLUSTER_COLUMN!r}, as the join gives "
            "them, in what is selected from its results.",
        )
