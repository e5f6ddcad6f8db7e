"""Aggregates over windows of joined rows: estimates, if the rows are a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

from shedjoin.errors import ParameterError
from shedjoin.sampling.aggregates import Aggregate, Avg, Count, Sum
from shedjoin.sampling.student import check_level
from shedjoin.spark import windows
from shedjoin.spark.estimate import check_number, estimate
from shedjoin.spark.event_time import Time, is_sampled
from shedjoin.spark.names import quoted
from shedjoin.spec.streams import CLUSTER_COLUMN, WEIGHT_COLUMN
from shedjoin.spec.window import Duration


def aggregate(
    results: DataFrame,
    *,
    window: Duration,
    aggregates: Mapping[str, Aggregate | Column],
    time: Time | None,
    slide: Duration | None,
    by: str | Sequence[str],
    level: float,
) -> DataFrame:
    """Aggregate joined rows by windows; see :func:`shedjoin.aggregate`."""
    _check_named(aggregates)
    check_level(level)
    if is_sampled(results) or {WEIGHT_COLUMN, CLUSTER_COLUMN} <= {*results.columns}:
        return estimate(
            results,
            window=window,
            aggregates=_of_a_sample(aggregates),
            time=time,
            slide=slide,
            by=by,
            level=level,
        )
    plain = {
        name: given if isinstance(given, Column) else _by_spark(results, given)
        for name, given in aggregates.items()
    }
    return windows.aggregate(
        results, window=window, aggregates=plain, time=time, slide=slide, by=by
    )


def _check_named(aggregates: object) -> None:
    if not isinstance(aggregates, Mapping) or not aggregates:
        raise ParameterError(
            f"aggregates={aggregates!r} names no aggregates.",
            fix='pass names with aggregates: aggregates={"revenue": Sum("price"), '
            '"n": Count()}.',
        )
    for name, given in aggregates.items():
        if not isinstance(given, Count | Sum | Avg | Column):
            raise ParameterError(
                f"aggregates[{name!r}]={given!r} is not an aggregate.",
                fix='pass Count(), Count("price"), Sum("price") or Avg("price"); of '
                'results that are no sample also Spark\'s own, e.g. F.max("price").',
            )


def _of_a_sample(
    aggregates: Mapping[str, Aggregate | Column],
) -> dict[str, Aggregate]:
    """Refuse Spark's own aggregates: they ignore the weights of a sample."""
    kept = {}
    for name, given in aggregates.items():
        if isinstance(given, Column):
            raise ParameterError(
                f"aggregates[{name!r}]={given!r} is an aggregate of Spark. It would "
                "ignore the weights of the results, which are a sample.",
                fix='write Count(), Sum("price") or Avg("price") of shedjoin; or, to '
                "aggregate the sampled rows alone, use Spark's own groupBy and window.",
            )
        kept[name] = given
    return kept


def _by_spark(results: DataFrame, given: Aggregate) -> Column:
    """The aggregate as an expression of Spark, over the emitted rows."""
    source = given.column
    if source is None:
        return F.count("*")
    column = quoted(results, source)
    if not isinstance(given, Count):
        check_number(results, column)
    by = {Count: F.count, Sum: F.sum, Avg: F.avg}
    return by[type(given)](column)
