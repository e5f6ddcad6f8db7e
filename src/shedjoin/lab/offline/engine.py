"""Decides whether an archive is in local tables or in DataFrames of Spark."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pyarrow as pa

from shedjoin.errors import ParameterError
from shedjoin.lab.offline.star import StarArchive


def spark_engine(archive: StarArchive) -> ModuleType | None:
    """The module for archives in Spark, or None if the archive is in tables.

    That module is in a higher layer and needs PySpark. So it is imported by name, and
    only if a DataFrame is given.
    """
    given = {
        "left": archive.left,
        "right": archive.right,
        "relation": archive.relation,
    }
    if archive.relation is None:
        del given["relation"]
    others = {name: it for name, it in given.items() if not isinstance(it, pa.Table)}
    for name, it in others.items():
        if not type(it).__module__.startswith("pyspark.sql."):
            raise ParameterError(
                f"{name} is of type {type(it).__name__}, which is no archive.",
                fix="pass a pyarrow.Table or a DataFrame of Spark; of pandas, "
                "pyarrow.Table.from_pandas(frame).",
            )
    return import_module("shedjoin.lab.spark.star_archive") if others else None


def in_tables(archive: StarArchive) -> StarArchive:
    """The archive with its rows in local tables."""
    engine = spark_engine(archive)
    if engine is None:
        return archive
    collected: StarArchive = engine.collected(archive)
    return collected
