"""Workspaces: what is kept is found again, what is dropped is gone."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from shedjoin.state.workspace import (
    MappedWorkspace,
    MemoryWorkspace,
    Workspace,
    WorkspaceError,
)

ROWS = pa.record_batch({"x": [1, None, 3], "y": ["a", "", None]})


@pytest.fixture(params=["memory", "mapped"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    if request.param == "memory":
        return MemoryWorkspace()
    return MappedWorkspace(tmp_path / "not" / "yet" / "there")


def test_arrays_begin_with_zeros_and_are_shared(workspace: Workspace) -> None:
    made = workspace.new_array("heads", 5)
    assert made.dtype == np.int64
    assert made.tolist() == [0] * 5
    made[2] = -7
    assert workspace.array("heads").tolist() == [0, 0, -7, 0, 0]


def test_a_new_array_leaves_the_old_one_to_its_holder(workspace: Workspace) -> None:
    old = workspace.new_array("heads", 4)
    old.fill(9)
    new = workspace.new_array("heads", 2)
    new[0] = 1
    assert old.tolist() == [9] * 4
    assert workspace.array("heads").tolist() == [1, 0]


def test_arrays_of_other_names_are_apart(workspace: Workspace) -> None:
    workspace.new_array("left.heads", 2).fill(1)
    workspace.new_array("right.heads", 2)
    assert workspace.array("left.heads").tolist() == [1, 1]
    assert workspace.array("right.heads").tolist() == [0, 0]


def test_rows_are_kept_by_number(workspace: Workspace) -> None:
    workspace.put(3, ROWS)
    workspace.put(40, ROWS[1:])
    assert workspace.get(3).equals(ROWS)
    assert workspace.get(40).equals(ROWS[1:])


def test_dropped_rows_are_gone_but_for_who_holds_them(workspace: Workspace) -> None:
    workspace.put(3, ROWS)
    held = workspace.get(3)
    workspace.drop(3)
    workspace.drop(3)
    with pytest.raises((LookupError, WorkspaceError)):
        workspace.get(3)
    assert held.equals(ROWS)


def test_a_folder_can_be_opened_again(tmp_path: Path) -> None:
    first = MappedWorkspace(tmp_path)
    first.new_array("heads", 3)[1] = 5
    first.put(0, ROWS)
    first.put(1, ROWS[:1])
    first.drop(1)
    second = MappedWorkspace(tmp_path)
    mapped = second.get(0)
    assert mapped.equals(ROWS)
    second.array("heads")[2] = 6
    assert first.array("heads").tolist() == [0, 5, 6]
    second.drop(0)
    assert mapped.equals(ROWS)  # the mapping outlives the file
    assert [path.name for path in tmp_path.iterdir()] == ["heads.int64"]


@pytest.mark.parametrize("content", [b"", bytes(4000), b"torn"])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes) -> None:
    workspace = MappedWorkspace(tmp_path)
    workspace.put(0, ROWS)
    (tmp_path / "0.arrow").write_bytes(content)
    with pytest.raises(WorkspaceError):
        workspace.get(0)
    with pytest.raises(WorkspaceError, match="FileNotFoundError"):
        workspace.array("heads")
    (tmp_path / "heads.int64").write_bytes(b"")
    with pytest.raises(WorkspaceError, match="empty"):
        workspace.array("heads")


def test_no_folder_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WorkspaceError, match="NotADirectoryError"):
        MappedWorkspace(tmp_path / "file" / "folder")


def test_what_was_put_is_not_held(tmp_path: Path) -> None:
    """It is mapped from its file, memory that the system can take back."""
    workspace = MappedWorkspace(tmp_path)
    before = pa.total_allocated_bytes()
    for number in range(20):
        workspace.put(number, pa.record_batch({"x": np.zeros(100_000)}))
        assert workspace.get(number).num_rows == 100_000
    assert pa.total_allocated_bytes() - before < 1_000_000
