"""A query over a polled table: ``python -m spark.child_polled FOLDER``.

The environment names the table ``pairs`` of a PostgreSQL server. Changes are written to
``FOLDER/results`` until there is a file ``FOLDER/finish`` and all is read.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from shedjoin import polled_relation

from .polled import observed, wait_for
from .queries import run
from .sessions import session_settings


def main(folder: Path) -> None:
    """Run until killed, or to the end."""
    builder = SparkSession.builder.master("local[2,4]")
    for key, value in session_settings(folder / "scratch").items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    properties = json.loads(os.environ["DATABASE"])
    url = properties.pop("url")
    changes = polled_relation(
        lambda: spark.read.jdbc(url, "pairs", properties=properties),
        log=folder / "versions",
        every="200 milliseconds",
        stale_after="3 seconds",
    )
    ended = False
    while not ended:
        ended = (folder / "finish").exists()
        for _ in range(2 * ended):  # the first reading may have begun before
            seen = observed(folder / "versions")
            wait_for(lambda: observed(folder / "versions") > seen)  # noqa: B023
        run(changes, folder)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
