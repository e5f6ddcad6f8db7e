"""Copies of state on a node: taken once, checked, spread, capped and swept; no JVM."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from pathlib import Path

import pyarrow as pa
import pytest

from shedjoin.errors import ParameterError
from shedjoin.spark import disk
from shedjoin.spark.copies import NodeCopies, Owner
from shedjoin.spark.disk import CopySettings, sweep
from shedjoin.state.workspace import WorkspaceError

ROWS = pa.record_batch({"x": list(range(1000))})
OWNER = Owner("query", "join", "print", 0)


@pytest.fixture(autouse=True)
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two local folders of the executor, as Spark names them."""
    folders = tmp_path / "a", tmp_path / "b"
    monkeypatch.setenv("SPARK_LOCAL_DIRS", ",".join(map(str, folders)))
    monkeypatch.setattr(disk, "_next_sweep", {})
    return tmp_path


def publish(
    token: str, owner: Owner = OWNER, settings: CopySettings = disk.DEFAULT
) -> None:
    copies = NodeCopies(owner, settings)
    workspace = copies.fresh()
    workspace.new_array("heads", 8)[3] = 7
    workspace.put(0, ROWS)
    copies.publish(token)


def found(local: Path) -> list[Path]:
    return sorted(local.glob("*/shedjoin/*/*/*/*"))


def test_a_copy_is_taken_once() -> None:
    publish("token")
    first, second = NodeCopies(OWNER, disk.DEFAULT), NodeCopies(OWNER, disk.DEFAULT)
    workspace = first.take("token")
    assert workspace is not None
    assert workspace.get(0).equals(ROWS)
    assert workspace.array("heads").tolist() == [0, 0, 0, 7, 0, 0, 0, 0]
    assert second.take("token") is None
    assert second.take("another") is None


@pytest.mark.parametrize(
    "other",
    [
        OWNER._replace(query="other"),
        OWNER._replace(join="../other/.."),
        OWNER._replace(fingerprint="other"),
        OWNER._replace(shard=2),
    ],
    ids=["query", "join", "fingerprint", "shard"],
)
def test_nobody_takes_the_copy_of_another(other: Owner, local: Path) -> None:
    publish("token")
    publish("token", other)
    assert len(found(local)) == 2
    assert NodeCopies(OWNER, disk.DEFAULT).take("token") is not None
    assert NodeCopies(OWNER, disk.DEFAULT).take("token") is None
    assert NodeCopies(other, disk.DEFAULT).take("token") is not None


def test_a_newer_state_takes_the_place_of_an_older(local: Path) -> None:
    for token in ("one", "two", "two", "three"):
        publish(token)
    assert [folder.name for folder in found(local)] == ["three"]


@pytest.mark.parametrize("name", ["heads.int64", "0.arrow", "manifest.json"])
@pytest.mark.parametrize("damage", ["truncated", "zeroed", "gone", "longer"])
def test_a_damaged_copy_is_a_miss(name: str, damage: str, local: Path) -> None:
    publish("token")
    (folder,) = found(local)
    file = folder / name
    content = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(
            {
                "truncated": content[:-9],
                "zeroed": bytes(len(content)),
                "longer": content + b"\0",
            }[damage]
        )
    copies = NodeCopies(OWNER, disk.DEFAULT)
    assert copies.take("token") is None
    assert copies.fresh() is not None
    assert len(found(local)) == 1


def test_shards_are_spread_over_the_local_folders(local: Path) -> None:
    for shard in range(4):
        publish("token", OWNER._replace(shard=shard))
    assert len(list((local / "a").rglob("0.arrow"))) == 2
    assert len(list((local / "b").rglob("0.arrow"))) == 2


def test_a_folder_that_cannot_be_written_is_passed_over(local: Path) -> None:
    (local / "a").write_text("no folder")
    for shard in range(2):
        publish("token", OWNER._replace(shard=shard))
    assert len(list((local / "b").rglob("0.arrow"))) == 2
    (local / "b").rename(local / "c")
    (local / "b").write_text("no folder")
    with pytest.raises(WorkspaceError, match="can be written"):
        NodeCopies(OWNER, disk.DEFAULT)


def test_off_by_a_setting(local: Path) -> None:
    off = CopySettings(enabled=False)
    publish("token", settings=off)
    assert found(local) == []
    assert NodeCopies(OWNER, off).take("token") is None


def test_old_copies_are_swept(local: Path) -> None:
    publish("token", OWNER._replace(query="stopped"))
    (old,) = found(local)
    os.utime(old, (time.time() - 4000, time.time() - 4000))
    disk._next_sweep.clear()
    publish("token")
    assert [folder.parent.parent.name for folder in found(local)] == ["query"]
    assert not old.parent.parent.exists()


def test_what_killed_workers_left_is_swept(local: Path) -> None:
    publish("token")
    (home,) = {folder.parent for folder in found(local)}
    dead = home / "work-99999999-0"
    dead.mkdir()
    os.utime(dead, (0, 0))
    alive = home / f"work-{os.getpid()}-77"
    alive.mkdir()
    os.utime(alive, (0, 0))
    disk._next_sweep.clear()
    sweep(local / "a" / "shedjoin", disk.DEFAULT)
    assert alive.exists()
    assert not dead.exists()


def test_the_cap(local: Path) -> None:
    capped = CopySettings(max_bytes=60_000)
    for number in range(30):
        disk._next_sweep.clear()
        publish("token", OWNER._replace(query=f"q{number:02}"), capped)
    size = sum(512 * file.stat().st_blocks for file in (local / "a").rglob("*.*"))
    assert 12_000 < size <= 60_000
    assert found(local)[-1].parent.parent.name == "q29"


def test_settings_of_a_session() -> None:
    assert CopySettings.of(Settings()) == CopySettings()
    given = Settings(
        {
            "spark.shedjoin.copies.enabled": "False",
            "spark.shedjoin.copies.maxBytes": "2 GB",
            "spark.shedjoin.copies.maxAge": "5 minutes",
        }
    )
    assert CopySettings.of(given) == CopySettings(False, 2 * 10**9, 300.0)
    with pytest.raises(ParameterError, match="neither true nor false"):
        CopySettings.of(Settings({"spark.shedjoin.copies.enabled": "no"}))


class Settings(dict[str, str]):
    """Settings of a session."""


def test_a_folder_that_vanishes_costs_the_copy_only(local: Path) -> None:
    """A cleaner or Spark itself may remove local folders while a task runs."""
    copies = NodeCopies(OWNER, disk.DEFAULT)
    copies.fresh().new_array("heads", 8)
    shutil.rmtree(local / "a")
    copies.publish("token")
    assert NodeCopies(OWNER, disk.DEFAULT).take("token") is None


def test_workers_of_two_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may have the same process id, and count alike."""
    made = []
    for number in range(2):
        monkeypatch.setattr(disk, "_works", itertools.count())
        monkeypatch.setattr(disk, "_WORKER", f"container{number}")
        copies = NodeCopies(OWNER, disk.DEFAULT)
        workspace = copies.fresh()
        made.append((copies, workspace))
        workspace.new_array("heads", 8)[0] = number
    for number, (copies, workspace) in enumerate(made):
        workspace.put(0, ROWS.slice(number, 1))
        copies.publish(f"token {number}")
        found = NodeCopies(OWNER, disk.DEFAULT).take(f"token {number}")
        assert found is not None
        assert found.array("heads")[0] == number
        assert found.get(0).equals(ROWS.slice(number, 1))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        (disk.MAX_BYTES, "2g"),
        (disk.MAX_BYTES, "-1"),
        (disk.MAX_AGE, "3600"),
        (disk.MAX_AGE, "-1 hour"),
    ],
)
def test_a_bad_setting_is_named(setting: str, value: str) -> None:
    with pytest.raises(ParameterError, match=f"{setting}='{value}'") as caught:
        CopySettings.of(Settings({setting: value}))
    assert setting in caught.value.fix


def test_a_number_of_bytes() -> None:
    given = Settings({disk.MAX_BYTES: "1000000"})
    assert CopySettings.of(given).max_bytes == 1_000_000
