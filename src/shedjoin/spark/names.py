"""Columns by the names that a user gives, matched as Spark matches them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame

from shedjoin.spec.keys import Fold, resolve_columns


def name_fold(frame: DataFrame) -> Fold:
    """Function by which Spark compares names of columns; by default it ignores case."""
    setting = str(frame.sparkSession.conf.get("spark.sql.caseSensitive"))
    return str if setting.lower() == "true" else str.lower


def quoted(frame: DataFrame, source: str | Column, stream: str = "joined") -> Column:
    """A column by its name, whatever characters the name has."""
    if not isinstance(source, str):
        return source
    (name,) = resolve_columns(stream, [source], frame.columns, name_fold(frame))
    return frame["`" + name.replace("`", "``") + "`"]
