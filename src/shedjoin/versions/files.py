"""Files that are written as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

PART = ".part-"
"""Prefix of the names of unfinished files."""

Write = Callable[[BinaryIO], object]


def replace(path: Path, write: Write) -> None:
    """Write a file. If it exists already, replace it."""
    part = _part(path, write)
    part.replace(path)
    _sync(path.parent)


def publish(path: Path, write: Write) -> None:
    """Write a new file. If it exists already, keep it and raise FileExistsError."""
    part = _part(path, write)
    os.link(part, path)
    _sync(path.parent)
    part.unlink()


def sweep(folder: Path, ending: str) -> None:
    """Remove unfinished files with this ending. No other process may be writing one."""
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
    """Write the folder to disk, so that names of files survive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
