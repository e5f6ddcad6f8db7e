"""Joins by name in a process of their own: ``python -m spark.child_joins FOLDER ...``.

``FOLDER MASTER SETTINGS NAME...``: joins the files of ``FOLDER/in`` on that master, all
names side by side, going on from the checkpoints that an earlier process left. When all
is read, results and counts of a join are written to ``results.json`` beside its
checkpoint. The master ``hosts`` is one with an executor on each of three hosts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from .hosts import start_hosts
from .named_joins import joined, locate
from .queries import finish, start
from .sessions import session_settings
from .sources import Sources


def main(folder: Path, master: str, settings: dict[str, str], *names: str) -> None:
    """Run the queries to the end of their input, or until killed."""
    settings = session_settings(folder / "scratch") | settings
    if master == "hosts":
        master = start_hosts(3, folder / "work", settings)
    builder = SparkSession.builder.master(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    sources = Sources(folder / "in")
    frames = {name: joined(spark, sources, name) for name in names}
    queries = {name: start(frames[name], locate(folder, name)) for name in names}
    for name, query in queries.items():
        query.awaitTermination()  # who started this process has patience, or has not
        home = locate(folder, name)
        found = finish(query, frames[name], home)
        said = {"rows": found.rows, "observed": found.observed()}
        (home / "results.json").write_text(json.dumps(said))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), *sys.argv[4:])
