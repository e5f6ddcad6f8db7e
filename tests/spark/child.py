"""A query in a process of its own: ``python -m spark.child FOLDER``.

Joins the files of ``FOLDER/in``, going on from the checkpoint that an earlier process
left. When all is read, the committed results are written to ``FOLDER/results.json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from shedjoin import Within, join

from .frames import as_streams
from .queries import run
from .sessions import session_settings
from .sources import Sources

DELAY = "15 seconds"
WINDOW = Within(before="10 seconds", after="20 seconds")


def main(folder: Path) -> None:
    """Run the query to the end of its input, or until killed."""
    builder = SparkSession.builder.master("local[2,4]")
    for key, value in session_settings(folder / "scratch").items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    frames = as_streams(Sources(folder / "in").read(spark), DELAY)
    joined = join(*frames, on="k", within=WINDOW).select("left_id", "right_id")
    found = run(joined, folder)
    (folder / "results.json").write_text(json.dumps(found.rows))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
