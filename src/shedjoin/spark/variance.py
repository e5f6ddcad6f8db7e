"""Variances and intervals as Spark expressions.

Names of sums have numbers. ``weighted3`` is the sum A of quantity 3 over a cluster, and
``total3`` is that sum over a window. ``variance2_1`` is the coefficient of the ratio R
in the variance of aggregate 2. Every step below is a projection of its own. Otherwise,
Spark would copy its values into each expression that uses them, and compute them again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

from shedjoin.sampling.aggregates import Aggregate, Count, Quantity
from shedjoin.sampling.horvitz_thompson import (
    ClusterSums,
    contribution,
    evaluate,
    squared,
)

_RESIDUE = 1e-6
"""If the variance of a ratio is below this part of its terms, most of it is rounding
error. Effective clusters are then not computed from it."""


class Term(NamedTuple):
    """One aggregate: its number, and the numbers of its quantities."""

    place: int
    numerator: int
    denominator: int | None
    is_count: bool

    @property
    def degree(self) -> int:
        """Degree of the variance as a polynomial in the ratio."""
        return 0 if self.denominator is None else 2


class Plan(NamedTuple):
    """What is summed; term 0 is the count of rows."""

    quantities: list[Quantity]
    terms: list[Term]


def make_plan(aggregates: Sequence[Aggregate]) -> Plan:
    """Number the aggregates and their quantities; equal quantities get one number."""
    quantities: dict[tuple[str, object], Quantity] = {}

    def number(quantity: Quantity) -> int:
        # Expressions cannot be compared by value, only by identity.
        source = quantity.source
        key = quantity.kind, id(source) if isinstance(source, Column) else source
        quantities.setdefault(key, quantity)
        return list(quantities).index(key)

    terms = []
    for place, aggregate in enumerate([Count(), *aggregates]):
        below = aggregate.denominator
        terms.append(
            Term(
                place,
                number(aggregate.numerator),
                None if below is None else number(below),
                isinstance(aggregate, Count),
            )
        )
    return Plan(list(quantities.values()), terms)


def cluster_sums(plan: Plan) -> Iterator[Column]:
    """Sums over the rows of a cluster."""
    weight = F.col("weight")
    yield F.max(weight).alias("weight")
    for place in range(len(plan.quantities)):
        number = F.col(f"number{place}")
        for name, factor in (("weighted", weight), ("rooted", F.sqrt(weight))):
            total = F.coalesce(F.sum(factor * number), F.lit(0.0))
            yield total.alias(f"{name}{place}")
        yield F.count(number).alias(f"seen{place}")


def window_sums(plan: Plan) -> Iterator[Column]:
    """Sums over the clusters of a window, and their greatest weight.

    If a cluster is marked, this weight is infinite. The mark has no column of its own,
    because such a column would change the stored state of running queries.
    """
    weight = F.when(_in_doubt(), math.inf).otherwise(F.col("weight"))
    yield F.max(weight).alias("weight")
    yield F.count(F.lit(1)).alias("clusters")
    for place in range(len(plan.quantities)):
        yield F.sum(f"weighted{place}").alias(f"total{place}")
        yield F.sum(f"seen{place}").alias(f"seen{place}")
    for term in plan.terms:
        below = None if term.denominator is None else _cluster(term.denominator)
        variance = contribution(_cluster(term.numerator), below)
        for name, polynomial in (("variance", variance), ("square", squared(variance))):
            for power, coefficient in enumerate(polynomial):
                yield F.sum(coefficient).alias(f"{name}{term.place}_{power}")


def with_intervals(
    totals: DataFrame, plan: Plan, log_quantile: Sequence[float]
) -> DataFrame:
    """Add value, error and half width of the interval of every term."""
    terms = plan.terms
    found = totals.withColumns({f"value{t.place}": _value(t) for t in terms})
    found = found.withColumns({f"spread{t.place}": _spread(t) for t in terms})
    found = found.withColumns({f"effective{t.place}": _effective(t) for t in terms})
    found = found.withColumns({f"error{t.place}": _error(t) for t in terms})
    inverse = {
        f"inverse{t.place}": 1
        / F.coalesce(f"effective{t.place}", "effective0", F.lit(1.0))
        for t in terms
    }
    found = found.withColumns(inverse)
    logarithms = [F.lit(coefficient) for coefficient in log_quantile]
    return found.withColumns(
        {
            f"half{t.place}": F.exp(evaluate(logarithms, F.col(f"inverse{t.place}")))
            * F.col(f"error{t.place}")
            for t in terms
        }
    )


def interval(term: Term, name: str) -> Iterator[Column]:
    """The columns of an aggregate. The low end of a count is at least the rows seen."""
    value, half = F.col(f"value{term.place}"), F.col(f"half{term.place}")
    low = value - half
    if term.is_count:
        low = F.greatest(low, F.col(f"seen{term.numerator}").cast("double"))
    yield value.alias(name)
    yield F.col(f"error{term.place}").alias(f"{name}_error")
    yield low.alias(f"{name}_low")
    yield (value + half).alias(f"{name}_high")


def effective_clusters(plan: Plan) -> Column:
    """The fewest effective clusters of any aggregate; all if nothing was left out."""
    counts = [F.col(f"effective{term.place}") for term in plan.terms]
    fewest = F.least(*counts) if len(counts) > 1 else counts[0]
    clusters = F.col("clusters").cast("double")
    return F.when(nothing_left_out(), clusters).otherwise(F.coalesce(fewest, clusters))


def nothing_left_out() -> Column:
    """Whether all weights are 1."""
    return F.col("weight") <= 1


def nothing_lost() -> Column:
    """Whether all results of a window had a chance to be in the sample."""
    return F.col("weight") < math.inf


def _in_doubt() -> Column:
    """Whether a cluster is marked: similar results may have had no chance to be kept.

    If clusters are not numbers, the user has made them, and no cluster is marked.
    """
    return F.col("cluster").try_cast("long") < 0


def _cluster(place: int) -> ClusterSums[Column]:
    return ClusterSums(F.col(f"weighted{place}"), F.col(f"rooted{place}"))


def _value(term: Term) -> Column:
    total = F.col(f"total{term.numerator}")
    if term.is_count:
        return total
    if term.denominator is not None:
        total = total / F.col(f"total{term.denominator}")
    # Without rows, the ratio is not computed: Spark raises an error on division by 0.
    return F.when(F.col(f"seen{term.numerator}") > 0, total)


def _polynomial(name: str, term: Term, degree: int) -> Column:
    powers = [F.col(f"{name}{term.place}_{power}") for power in range(degree + 1)]
    return evaluate(powers, F.col(f"value{term.place}"))


def _spread(term: Term) -> Column:
    """Variance of the total, or of the total of the residuals."""
    return F.greatest(_polynomial("variance", term, term.degree), F.lit(0.0))


def _effective(term: Term) -> Column:
    """Effective clusters; null if there is no variance to estimate them from."""
    spread, least = F.col(f"spread{term.place}"), F.lit(0.0)
    if term.denominator is not None:
        above, below = (F.col(f"variance{term.place}_{power}") for power in (0, 2))
        least = _RESIDUE * (above + F.col(f"value{term.place}") ** 2 * below)
    square = _polynomial("square", term, 2 * term.degree)
    clusters = F.col("clusters").cast("double")
    ratio = F.least(F.greatest(spread * spread / square, F.lit(1.0)), clusters)
    return F.when((spread > least) & (square > 0), ratio)


def _error(term: Term) -> Column:
    error = F.sqrt(f"spread{term.place}")
    if term.denominator is not None:
        error = error / F.col(f"total{term.denominator}")
    return F.when(F.col(f"value{term.place}").isNotNull(), error)
