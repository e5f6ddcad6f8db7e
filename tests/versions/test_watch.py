"""Waiting for a table that was read lately."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from shedjoin.errors import VersionLogError
from shedjoin.versions.folder import Observation, VersionFolder
from shedjoin.versions.watch import Watch

from .tables import described


def note(folder: VersionFolder, version: int, age_s: float) -> None:
    clock_us = int((time.time() - age_s) * 1e6)
    folder.note(Observation(version, clock_us, clock_us))


def test_a_fresh_version_is_told_at_once(tmp_path: Path) -> None:
    folder = described(tmp_path)
    note(folder, 7, 0)
    assert Watch(folder, 10, 0).version() == 7


@pytest.mark.parametrize("age_s", [30, -30])
def test_an_old_one_is_waited_out(age_s: float, tmp_path: Path) -> None:
    """Also one that seems to come: the clock was set back, who knows how long ago."""
    folder = described(tmp_path)
    note(folder, 7, age_s)
    later = threading.Timer(0.3, note, (folder, 8, 0))
    later.start()
    assert Watch(folder, 10, 60).version() == 8
    later.join()


def test_nobody_waits_for_ever(tmp_path: Path) -> None:
    folder = described(tmp_path)
    watch = Watch(folder, 10, 0.1)
    with pytest.raises(
        VersionLogError, match=r"has never been read \(its poller has ended"
    ):
        watch.version()
    note(folder, 7, 100)
    folder.note_failure("connection refused")
    with pytest.raises(VersionLogError, match=r"100 s ago \(connection refused"):
        watch.version()
    note(folder, 7, 50)
    assert folder.failure() == ""
