"""The recall of a micro-batch in Spark's progress, from the counts of all shards."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

from shedjoin.spec.recall import (
    ESTIMATED,
    EXACT,
    MIXED,
    NOTHING_FOUND,
    STATES,
    WITHIN,
)
from shedjoin.spec.report import OTHER_BUDGETS

_RECALLS = {
    "recall": ("measured", "missed", "missed_variance"),
    "importance_recall": (
        "measured_importance",
        "missed_importance",
        "missed_importance_variance",
    ),
    "recall_so_far": ("so_far_measured", "so_far_missed", "so_far_variance"),
    "importance_recall_so_far": (
        "so_far_importance",
        "so_far_missed_importance",
        "so_far_importance_variance",
    ),
}
"""Counts from which each recall is computed: results, missing results, and the variance
of the missing results."""


def recall_columns(total: Mapping[str, Column]) -> list[Column]:
    """Recalls with their intervals (null if unknown), and their state in words.

    ``total`` are the counts over all shards. The formulas are those of
    :func:`shedjoin.spec.recall.recall_of`, as Spark expressions.
    """
    code, found = total["recall_code"], total["measured"] + total["missed"]
    nothing = (code == ESTIMATED) & (found <= 0)
    code = F.when(nothing, F.lit(NOTHING_FOUND)).otherwise(code)
    columns = []
    for name, (measured, missed, variance) in _RECALLS.items():
        known = F.lit(ESTIMATED) if name.endswith("so_far") else code
        columns += _interval(
            name, known, *(total[each] for each in (measured, missed, variance))
        )
    whole = total["expected_of"]
    for factor, name in OTHER_BUDGETS.items():
        closer = F.least if factor < 1.0 else F.greatest
        known = (whole > 0) & (total["expected_from"] <= factor)
        recall_at = F.when(known, closer(total[name] / whole, columns[0]))
        columns.append(recall_at.alias(name.replace("expected", "recall_at")))
    words = [F.when(code == each, F.lit(said)) for each, said in STATES.items()]
    return [*columns, F.coalesce(*words).alias("recall_state")]


def _interval(
    name: str, code: Column, measured: Column, missed: Column, variance: Column
) -> list[Column]:
    off = F.sqrt(variance) * WITHIN
    unknown = code > ESTIMATED
    if "importance" in name:  # if importances have both signs, there is no recall
        unknown |= (measured < 0) | (missed + off < -MIXED * measured)
    missed = F.greatest(missed, F.lit(0.0))
    each = {
        name: missed,
        f"{name}_low": missed + off,
        f"{name}_high": F.greatest(missed - off, F.lit(0.0)),
    }
    return [
        reduce(
            lambda column, case: column.when(*case),
            [
                (unknown, F.lit(None).cast("double")),
                (measured + missed > 0, measured / (measured + more)),
                (measured > 0, F.lit(1.0)),
            ],
            F.when(code == EXACT, F.lit(1.0)),
        ).alias(alias)
        for alias, more in each.items()
    ]
