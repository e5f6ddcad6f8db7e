"""Columns by the names that a user gives, matched as Spark matches them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame

from shedjoin.spec.keys import Fold, resolve_columns


def name_fold(frame: DataFrame) -> Fold:
    """How Spark compares names of columns: whatever their case, unless told so."""
    setting = str(frame.sparkSession.conf.get("spark.sql.caseSensitive"))
    return str if setting.lower() == "true" else str.lower


def quoted(results: DataFrame, source: str | Column) -> Column:
    """A column by its name, whatever characters the name has."""
    if not isinstance(source, str):
        return source
    fold = name_fold(results)
    (name,) = resolve_columns("joined", [source], results.columns, fold)
    return results["`" + name.replace("`", "``") + "`"]
