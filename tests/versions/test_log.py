"""Versions written, read again, and written on."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from shedjoin.errors import ColumnTypeError, ParameterError, VersionLogError
from shedjoin.versions import log as log_module
from shedjoin.versions.folder import Description, VersionFolder
from shedjoin.versions.log import VersionLog

from .tables import Row, described, random_table, replay, row_set, writer


def ads(*numbers: int) -> pa.Table:
    return pa.table({"ad": pa.array(numbers, pa.int64())})


def change_rows(folder: VersionFolder, number: int) -> list[tuple[object, ...]]:
    batches = folder.read(number, number)
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def test_versions_are_what_was_read(tmp_path: Path, rng: np.random.Generator) -> None:
    """Also by writers that go on from others, with and without a snapshot."""
    folder = described(tmp_path)
    expected: list[set[Row]] = []
    log = writer(folder)
    for number in range(60):
        if number % 7 == 6:
            log.close()
            log = writer(folder)
        table = random_table(rng, int(rng.integers(0, 30)))
        log.observe(table, number)
        rows = row_set(table)
        if not expected or expected[-1] != rows:
            expected.append(rows)
        assert folder.observed() == (len(expected), number, number)
    assert replay(folder) == expected


def test_snapshots_follow_the_change(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "_SNAPSHOT_ROWS", 10)
    folder = described(tmp_path)
    seen = set()
    for number in range(40):
        log = writer(folder)
        table = random_table(rng, 12)
        log.observe(table, number)
        log.close()
        seen.update(folder.snapshots())
        assert len(folder.snapshots()) <= 1
    assert 3 < len(seen) < 39
    assert replay(folder)[-1] == row_set(table)


def test_many_small_versions_get_a_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "_SNAPSHOT_VERSIONS", 5)
    folder = described(tmp_path)
    log = writer(folder)
    for number in range(12):
        log.observe(ads(number), number)
    assert folder.snapshots() == [10]


def test_the_first_rows_were_always_there(tmp_path: Path) -> None:
    folder = described(tmp_path)
    log = writer(folder)
    log.observe(ads(1, 2, 2), 5_000_000)
    log.observe(ads(2, 3), 6_000_000)
    first, second = change_rows(folder, 1), change_rows(folder, 2)
    assert sorted(first) == [(1, "insert", None), (2, "insert", None)]
    assert [(ad, change) for ad, change, _ in second] == [(1, "delete"), (3, "insert")]
    assert {at.timestamp() for *_, at in second} == {6}  # type: ignore[attr-defined]


def test_or_came_when_they_were_seen(tmp_path: Path) -> None:
    folder = described(tmp_path, "observed")
    writer(folder).observe(ads(1), 5_000_000)
    ((_, _, at),) = change_rows(folder, 1)
    assert at.timestamp() == 5  # type: ignore[attr-defined]


def test_an_empty_table_has_a_first_version(tmp_path: Path) -> None:
    folder = described(tmp_path)
    log = writer(folder)
    log.observe(ads(), 1)
    assert log.observe(ads(7), 2).version == 2
    ((ad, change, at),) = change_rows(folder, 2)
    assert (ad, change) == (7, "insert")
    assert at is not None


def test_times_grow_while_the_clock_does_not(tmp_path: Path) -> None:
    folder = described(tmp_path)
    times, seen = [], []
    for number, clock in enumerate([100, 50, 50, 120, 0, 0, 10]):
        log = writer(folder)
        observed = log.observe(ads(number // 2), clock)
        times += [at for *_, at in change_rows(folder, observed.version)][-1:]
        seen.append(observed.at_us)
        assert observed.clock_us == clock
        log.close()
    known = [at for at in times if at is not None]
    assert known == sorted(known)  # type: ignore[type-var]
    assert all(a < b for a, b in pairwise(seen))


def test_unchanged_tables_are_only_noted(tmp_path: Path) -> None:
    folder = described(tmp_path)
    log = writer(folder)
    table = pa.table({"x": [float("nan"), None, 1.0]})
    for number in range(5):
        assert log.observe(table.take([2, 0, 1]), number).version == 1
    assert folder.observed() == (1, 4, 4)


def test_other_columns_are_refused(tmp_path: Path) -> None:
    folder = described(tmp_path)
    log = writer(folder)
    log.observe(ads(1), 1)
    with pytest.raises(ColumnTypeError, match="the table now has ad string"):
        log.observe(pa.table({"ad": ["1"]}), 2)
    assert log.observe(ads(2), 3).version == 2


def test_there_is_one_writer_at_a_time(tmp_path: Path) -> None:
    folder = described(tmp_path)
    first = writer(folder)
    assert VersionLog.acquire(folder) is None
    first.observe(ads(1), 1)
    first.close()
    first.close()
    second = writer(folder)
    assert second.observe(ads(1, 2), 2).version == 2


def test_writers_without_a_lock_never_overwrite(tmp_path: Path) -> None:
    """As on a file system whose locks do nothing: who is second starts over."""
    folder = described(tmp_path)
    first, second = VersionLog(folder), VersionLog(folder)
    first.observe(ads(1), 1)
    second.observe(ads(1), 2)
    first.observe(ads(2), 3)
    with pytest.raises(VersionLogError, match="somebody else"):
        second.observe(ads(3), 4)
    assert second.observe(ads(3), 5).version == 3
    assert replay(folder) == [{(1,)}, {(2,)}, {(3,)}]


def write_some(path: str, seed: int) -> None:
    """A process that writes whenever it is let."""
    rng, folder = np.random.default_rng(seed), VersionFolder(path)
    written = 0
    while written < 20:
        log = VersionLog.acquire(folder)
        if log is None:
            continue
        for _ in range(int(rng.integers(1, 4))):
            log.observe(random_table(rng, 5), int(rng.integers(0, 10**6)))
            written += 1
        if seed and written >= 12:
            os._exit(0)  # dies with the lock
        log.close()


def test_processes_write_in_turns(tmp_path: Path) -> None:
    folder = described(tmp_path)
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=write_some, args=(tmp_path, n)) for n in (0, 1)]
    for child in children:
        child.start()
    for child in children:
        child.join(120)
        assert child.exitcode == 0
    assert len(replay(folder)) > 25
    log = writer(folder)
    log.observe(random_table(np.random.default_rng(3), 9), 0)
    assert folder.observed() is not None


def test_a_missing_version_is_said(tmp_path: Path) -> None:
    folder = described(tmp_path)
    log = writer(folder)
    for number in range(3):
        log.observe(ads(number), number)
    folder.version(2).unlink()
    with pytest.raises(VersionLogError, match="version 2 of the table is missing"):
        list(folder.read(1, 3))
    with pytest.raises(VersionLogError, match="Fix: put the folder back"):
        folder.parts(1, 3, 1)
    log.close()
    with pytest.raises(VersionLogError):
        writer(folder).observe(ads(9), 9)


def test_another_folder_at_the_same_place_is_told(tmp_path: Path) -> None:
    """Versions of one that was removed are not those of the one that followed."""
    before = described(tmp_path / "log")
    assert before.name
    before_name = before.name
    before.check_name(before_name)
    before.check_name("")  # of a checkpoint that does not know
    shutil.rmtree(tmp_path / "log")
    after = described(tmp_path / "log")
    with pytest.raises(VersionLogError, match="is not the folder"):
        after.check_name(before_name)


def test_ranges_of_versions(tmp_path: Path) -> None:
    folder = described(tmp_path)
    log = writer(folder)
    for number in range(6):
        log.observe(ads(number), number)
    size = max(folder.version(n).stat().st_size for n in range(1, 7))
    assert folder.parts(2, 5, 1) == [(2, 2), (3, 3), (4, 4), (5, 5)]
    assert folder.parts(1, 5, 2 * size) == [(1, 2), (3, 4), (5, 5)]
    assert folder.parts(1, 6, 100 * size) == [(1, 6)]
    assert folder.parts(3, 2, size) == []


def test_a_folder_says_what_it_is_of(tmp_path: Path) -> None:
    folder = described(tmp_path)
    known = folder.describe(Description({"other": 1}, "change", "at", "always"))
    assert known.schema == {"columns": 3}
    with pytest.raises(ParameterError, match="was begun with 'change'"):
        folder.describe(Description({}, "op", "at", "always"))
    (tmp_path / "_table.json").write_text(json.dumps({"format": 9}))
    with pytest.raises(VersionLogError, match="format 9"):
        folder.description()
    with pytest.raises(VersionLogError, match="does not say"):
        VersionLog(VersionFolder(tmp_path / "new"))


def test_changes_act_from_when_they_were_found(tmp_path: Path) -> None:
    """To compare takes time, in which rows may be joined; the reading is older."""
    folder = described(tmp_path)
    log = writer(folder)
    log.lead_us, log.clock = 1, lambda: 9_000_000
    log.observe(ads(1), 5_000_000)
    observed = log.observe(ads(2), 6_000_000)
    times = {at.timestamp() for *_, at in change_rows(folder, 2)}  # type: ignore[attr-defined]
    assert times == {9.000001}
    assert observed.clock_us == 6_000_000
    assert log.observe(ads(3), 6_500_000).at_us > observed.at_us
