"""A join through a table of PostgreSQL: ``python -m spark.child_database FOLDER``.

The environment names the table ``related``. Rows of ``FOLDER/in`` are joined, going on
from the checkpoint that an earlier process left, until there is ``FOLDER/finish``. The
committed results are then written to ``FOLDER/results.json``.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import shedjoin as sj

from .polled import observed, wait_for
from .queries import PATIENCE_S, run
from .related_rows import LEAD_S, STALE_S, WINDOW_S
from .sessions import session_settings


def main(folder: Path) -> None:
    """Run until killed, or to the end."""
    builder = SparkSession.builder.master("local[2,4]")
    for key, value in session_settings(folder / "scratch").items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    frame = joined(spark, folder)
    if not (folder / "finish").exists():
        run_on(frame, folder)
    for _ in range(2):  # the first reading may have begun before
        seen = observed(folder / "versions")
        wait_for(lambda: observed(folder / "versions") > seen, PATIENCE_S)  # noqa: B023
    for _ in range(2):  # PySpark 4.1 repeats a micro-batch that was cut, and ends
        found = run(frame, folder)
    (folder / "results.json").write_text(json.dumps(found.rows))
    spark.stop()


def joined(spark: SparkSession, folder: Path) -> DataFrame:
    """Two streams of files through the table."""
    properties = json.loads(os.environ["DATABASE"])
    url = properties.pop("url")
    changes = sj.polled_relation(
        lambda: spark.read.jdbc(url, "related", properties=properties),
        log=folder / "versions",
        every="500 milliseconds",
        stale_after=f"{STALE_S} seconds",
        lead=f"{LEAD_S} seconds",
    )
    streams = []
    for key in ("a", "b"):
        reader = spark.readStream.schema(f"t timestamp, {key} int, {key}_id long")
        rows = reader.parquet(str(folder / "in" / key))
        streams.append(rows.withWatermark("t", "10 seconds"))
    relation = sj.Relation(
        changes, left="a", right="b", change=("change", "at"), delay="10 seconds"
    )
    return sj.join(
        *streams,
        through=relation,
        within=f"{WINDOW_S} seconds",
        options=sj.Options(shards=2),
    ).select("a_id", "b_id")


def run_on(frame: DataFrame, folder: Path) -> None:
    """Run a query that goes on, until somebody asks for its end."""
    query = (
        frame.writeStream.format("parquet")
        .option("path", str(folder / "results"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )
    while not (folder / "finish").exists():
        if query.awaitTermination(1):
            raise AssertionError("the query ended by itself")
    with suppress(StreamingQueryException):  # it may be stopped while it makes a job
        query.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
