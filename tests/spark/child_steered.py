"""A steered query in a process of its own: ``python -m spark.child_steered FOLDER``.

It joins the files of ``FOLDER/in`` under the messages of ``FOLDER/control``, going on
from the checkpoint that an earlier process left. When all is read and there is a file
``FOLDER/finish``, the committed results are written to ``results.json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from .named_joins import joined, locate
from .queries import written
from .sessions import session_settings
from .sources import Sources


def main(folder: Path) -> None:
    """Run the query until told to finish, or until killed."""
    builder = SparkSession.builder.master("local[2,4]")
    for key, value in session_settings(folder / "scratch").items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    frame = joined(spark, Sources(folder / "in"), "steered")
    home = locate(folder, "steered")
    query = (
        frame.writeStream.format("parquet")
        .option("path", str(home / "results"))
        .option("checkpointLocation", str(home / "checkpoint"))
        .trigger(processingTime="100 milliseconds")
        .start()
    )
    last = False
    while not last:
        last = (folder / "finish").exists()
        query.processAllAvailable()
    query.stop()
    (home / "results.json").write_text(json.dumps(written(frame, home)))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
