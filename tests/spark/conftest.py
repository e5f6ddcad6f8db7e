"""One Spark session for the whole run, started by the first test that asks for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from support.postgresql import Server, serving

from .sessions import session_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

collect_ignore_glob = [] if find_spec("pyspark") else ["test_*.py"]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session of two cores; state in RocksDB, scratch in pytest's own folder.

    A task is tried up to four times, as on a cluster: Spark fails it when a Python
    worker takes more than ten seconds to start, which happens on a busy machine.
    """
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2,4]").appName("tests")
    for key, value in session_settings(tmp_path_factory.mktemp("spark")).items():
        builder = builder.config(key, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        patch.delenv("SPARK_LOCAL_DIRS", raising=False)  # it would win over the setting
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Server]:
    """One server for the whole run, started by the first test that asks for it."""
    with serving() as server:
        yield server


@pytest.fixture
def postgresql(postgresql_server: Server) -> Server:
    """A PostgreSQL server that runs; tests make tables of their own names."""
    if postgresql_server.pid is None:
        postgresql_server.start()
    return postgresql_server
