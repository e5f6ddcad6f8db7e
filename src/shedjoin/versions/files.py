"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

PART = ".part-"
"""How the names of files begin that are not finished."""

Write = Callable[[BinaryIO], object]


def replace(path: Path, write: Write) -> None:
    """Put a file in the place of what is there."""
    part = _part(path, write)
    part.replace(path)
    _sync(path.parent)


def publish(path: Path, write: Write) -> None:
    """Put a file where none is; FileExistsError if there is one, which stays."""
    part = _part(path, write)
    os.link(part, path)
    _sync(path.parent)
    part.unlink()


def sweep(folder: Path, ending: str) -> None:
    """Remove unfinished files of such names; nobody else may be writing them."""
    for path in folder.glob(f"{PART}*{ending}"):
        path.unlink(missing_ok=True)


def _part(path: Path, write: Write) -> Path:
    part = path.with_name(f"{PART}{token_hex(4)}-{path.name}")
    with part.open("xb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    return part


def _sync(folder: Path) -> None:
    """Make names last: the folder is written to disk, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
