"""A streaming join over Spark Connect: ``python -m spark.connected FOLDER``.

In a process of its own, because a process holds either a classic session or a Connect
one. Joins the files of ``FOLDER/in`` and writes ``FOLDER/results.json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from shedjoin import Within, join

from .frames import as_streams
from .queries import PATIENCE_S, start, written
from .sessions import session_settings
from .sources import Sources


def main(folder: Path) -> None:
    """Run the query to the end of its input."""
    builder = SparkSession.builder.remote("local[2]")
    for key, value in session_settings(folder / "scratch").items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    frames = as_streams(Sources(folder / "in").read(spark), "1 second")
    joined = join(*frames, on=["k", "s"], within=Within(after="10 seconds"))
    query = start(joined, folder)
    assert query.awaitTermination(PATIENCE_S)
    found = {
        "session": type(spark).__module__,
        "columns": joined.columns,
        "rows": [[row[3], row[5]] for row in written(joined, folder)],
        "observed": [list(batch["observedMetrics"]) for batch in query.recentProgress],
    }
    (folder / "results.json").write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
