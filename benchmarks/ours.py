"""The joins of this library alone, at the full sizes of ``exact`` and ``star``.

``python -m benchmarks.against cc6b2c4 ours`` compares two revisions with it. Spark's
own joins, which take most of the time of those benchmarks, are left out. The file is
run with the benchmarks of each revision, so it uses only what all revisions have.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks import engine, exact, star
from benchmarks.record import Record
from benchmarks.streams import Stream


def run(*, quick: bool) -> Record:
    """Join once each; the bare engine shows what the machine does meanwhile."""
    stream = exact.QUICK if quick else exact.FULL
    setting = star.QUICK if quick else star.FULL
    with tempfile.TemporaryDirectory() as scratch:
        spark = engine.session(Path(scratch))
        engine.use_store(spark, "rocksdb")
        streams, related = Path(scratch, "exact"), Path(scratch, "star")
        stream.write(streams)
        frames = {
            "passthrough": engine.passthrough(spark, streams),
            "exact": engine.ours(spark, streams, exact.WINDOW),
        }
        figures = {
            f"{name}_rows_per_s": engine.rate([engine.run(frame, name, stream.files)])
            for name, frame in frames.items()
        }
        setting.write(related)
        figures["star_rows_per_s"] = _star(related, setting, spark)
        spark.stop()
    return Record("ours", _sizes(stream, setting), figures)


def _star(folder: Path, setting: star.Setting, spark: SparkSession) -> float:
    relation = spark.read.parquet(str(folder / "relation.parquet"))
    left, right = star._streams(spark, folder)  # noqa: SLF001
    joined = star._star(left, right, relation)  # noqa: SLF001
    told = joined.observe("told", *engine.digest("left_id", "right_id"))
    return float(engine.rate([engine.run(told, "star", setting.files)]))


def _sizes(stream: Stream, setting: star.Setting) -> dict[str, int]:
    return {
        "exact_rows_per_stream": stream.rows,
        "star_rows_per_stream": setting.rows,
        "seed": stream.seed,
        "star_seed": setting.seed,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    run(quick=options.quick).write(options.json)
