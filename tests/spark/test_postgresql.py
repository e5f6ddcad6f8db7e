"""A relation in a real database."""

from __future__ import annotations

import os
import signal

import pytest
from pyspark.sql import SparkSession

from support.postgresql import Server

pytestmark = [pytest.mark.spark]


def test_the_server_comes_and_goes(spark: SparkSession, postgresql: Server) -> None:
    """The same rows are there after it was stopped, on the same port."""
    postgresql.run("create table ads (ad int, name text); insert into ads values (1)")
    before = postgresql.pid
    postgresql.stop()
    assert before is not None
    with pytest.raises(ProcessLookupError):
        os.kill(before, signal.SIG_DFL)
    postgresql.start()
    read = spark.read.jdbc(postgresql.url, "ads", properties=postgresql.properties)
    assert list(map(tuple, read.collect())) == [(1, None)]
    assert postgresql.rows("select ad from ads") == [("1",)]
