"""A join through a relation in a process of its own: ``-m spark.child_star FOLDER``.

Joins the files of ``FOLDER/in``, going on from the checkpoint that an earlier process
left. When all is read, the committed results are written to ``FOLDER/results.json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from .queries import run
from .sessions import session_settings
from .star_streams import changing_join


def main(folder: Path) -> None:
    """Run the query to the end of its input, or until killed."""
    builder = SparkSession.builder.master("local[2,4]")
    for key, value in session_settings(folder / "scratch").items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    found = run(changing_join(spark, folder / "in"), folder)
    (folder / "results.json").write_text(json.dumps(found.rows))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
