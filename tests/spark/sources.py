"""Micro-batches as Parquet files, which a file stream reads one by one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

NAMES = ("left", "right")
_FIRST_S = 1_600_000_000


@dataclass(frozen=True, slots=True)
class Sources:
    """Folders ``left`` and ``right`` of Parquet files, ``files`` per micro-batch."""

    folder: Path
    files: int = 1

    def write(
        self,
        batches: Sequence[tuple[pa.Table | None, pa.Table | None]],
        first: int = 0,
    ) -> Sources:
        """Write micro-batches, numbered from ``first``.

        A side without rows gets an empty file, so that both file lists stay in step;
        None writes no file. Files are dated in order, as Spark reads them.
        """
        for number, tables in enumerate(batches, first):
            for name, table in zip(NAMES, tables, strict=True):
                if table is not None:
                    self._write(name, number, table)
        return self

    def read(self, spark: SparkSession) -> tuple[DataFrame, DataFrame]:
        """Both sides as streams that take one micro-batch at a time."""
        left, right = (self._read(spark, name) for name in NAMES)
        return left, right

    def _write(self, name: str, number: int, table: pa.Table) -> None:
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        rows = -(-table.num_rows // self.files)
        for part in range(self.files):
            path = self.folder / name / f"{number:04}-{part}.parquet"
            pq.write_table(table.slice(part * rows, rows), path)
            os.utime(path, times=(_FIRST_S + number, _FIRST_S + number))

    def _read(self, spark: SparkSession, name: str) -> DataFrame:
        path = str(self.folder / name)
        schema = spark.read.parquet(path).schema
        reader = spark.readStream.schema(schema)
        return reader.option("maxFilesPerTrigger", self.files).parquet(path)
