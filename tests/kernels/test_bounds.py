"""With ``NUMBA_BOUNDSCHECK=1`` indices are checked, whatever the cache holds.

numba's cache does not tell code with checks from code without. So a run with checks
must neither take compiled code from the cache nor leave its own there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, sys
import numpy as np
from shedjoin.kernels.hashing import chain_words
from shedjoin.kernels.jit import inline_kernel, kernel, kernel_no_refcount
from shedjoin.kernels.slots import pending
from shedjoin.operators.budgeted.layout import table_in, words_of


@kernel
def counted(array, at):
    made = np.empty(array.size, np.int64)
    made[at] = array[at]
    return made[at]


@kernel_no_refcount
def thrifty(array, at):
    array[at] = 7
    return array[at]


@inline_kernel
def inside(array, at):
    array[at] = 7
    return array[at]


@kernel_no_refcount
def around(array, at):
    return inside(array, at)


def library_kernel(array, at):
    chain_words(np.zeros(array.size, np.int64), np.zeros(at + 1, np.int64))


def library_lean_kernel(array, at):
    table = table_in(np.zeros(words_of(1, 2), np.int64), 2)
    table.number[0] = at
    pending(0, table, array)


def outcome(call, at):
    try:
        call(np.zeros(4, np.int64), at)
    except IndexError as error:
        return str(error)
    return "in bounds"


calls = (counted, thrifty, around, library_kernel, library_lean_kernel)
found = {f"{call.__name__} {at}": outcome(call, int(at))
         for call in calls for at in sys.argv[1:]}
json.dump(found, sys.stdout)
"""

CALLS = ("counted", "thrifty", "around", "library_kernel", "library_lean_kernel")


def outcome(program: Path, *indices: str, checked: bool) -> dict[str, str]:
    """Run the program in a process of its own, with or without checks."""
    settings = {
        name: os.environ[name] for name in os.environ if not name.startswith("NUMBA_")
    }
    run = subprocess.run(
        [sys.executable, str(program), *indices],
        env=settings | ({"NUMBA_BOUNDSCHECK": "1"} if checked else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, str] = json.loads(run.stdout)
    return found


def compiled(folder: Path) -> dict[Path, int]:
    """Files of the cache and when they were written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb*")}


@pytest.mark.slow
def test_an_overrun_is_caught_beside_a_full_cache(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    fine = {f"{call} 3": "in bounds" for call in CALLS}
    assert outcome(program, "3", checked=False) == fine
    before = compiled(tmp_path)
    assert before
    caught = {f"{call} 4": "index is out of bounds" for call in CALLS}
    assert outcome(program, "3", "4", checked=True) == fine | caught
    assert compiled(tmp_path) == before
