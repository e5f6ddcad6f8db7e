"""Micro-batches that wait on disk, and disks that cannot be written; no JVM."""

from __future__ import annotations

import logging
from pathlib import Path

import pyarrow as pa
import pytest

from shedjoin.columns.arrivals import Blob
from shedjoin.spark import spool
from shedjoin.spark.spool import Spool

BLOBS = [Blob(0, bytes([n]), bytes([n]) * 1000) for n in range(40)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "HELD_BYTES", 5000)


def contents(blobs: list[Blob]) -> list[bytes]:
    return [pa.py_buffer(blob.payload).to_pybytes() for blob in blobs]


def test_a_disk_that_is_full_from_the_start(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Path("/dev/full").open("r+b", buffering=0) as full:
        monkeypatch.setattr(spool, "_new_file", lambda: full)
        with caplog.at_level(logging.WARNING, "shedjoin"):
            found = Spool.of(BLOBS).blobs()
    assert contents(found) == contents(BLOBS)
    assert len(caplog.records) == 1


def test_the_first_folder_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    folders = tmp_path / "file", tmp_path / "second"
    monkeypatch.setenv("SPARK_LOCAL_DIRS", ",".join(map(str, folders)))
    waiting = Spool.of(BLOBS)
    assert waiting._file is not None
    with waiting._file:
        assert contents(waiting.blobs()) == contents(BLOBS)
