"""Settings of every Spark session of the tests."""

from __future__ import annotations

from pathlib import Path

from support.postgresql import DRIVER

_STORE = "spark.sql.streaming.stateStore"


def session_settings(scratch: Path) -> dict[str, str]:
    """Small, quiet and in UTC; state in RocksDB; files only below ``scratch``."""
    jars = {"spark.jars": str(DRIVER.resolve())} if DRIVER.exists() else {}
    return jars | {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        # Queries of seconds: compiling hot code once more costs more than it saves.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        f"{_STORE}.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        f"{_STORE}.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
