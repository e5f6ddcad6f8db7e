"""Every file operation of a worker goes through its process: counted, killed, refused.

Only operations of a worker on the folders of its node are looked at; all others pass.
Seen are the calls of ``os``, ``open``, ``mmap`` and of Arrow's files; what is written
into a mapping is not, and it is there after a kill, as it would be.
"""

from __future__ import annotations

import builtins
import io
import mmap
import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from .opened import ArrowFile, Entries, PlainFile
from .process import Process, acting

_ROOMY = (
    "mkdir",
    "rename",
    "replace",
    "link",
    "symlink",
    "truncate",
    "ftruncate",
    "posix_fallocate",
)
"""Operations that a full disk refuses, besides writes and new files."""
_OTHERS = ("unlink", "remove", "rmdir", "utime", "chmod", "stat", "lstat", "fsync")
_CREATES = os.O_CREAT | os.O_TRUNC
Call = Callable[..., Any]
"""An operation, with the arguments of the one that it stands for."""


def _worker(*places: object) -> Process | None:
    """The worker whose turn it is, if one of these is a file or folder of its node."""
    process = acting()
    if process is None:
        return None
    root = os.fspath(process.node.root)
    for place in places:
        if isinstance(place, int):
            if place in process.fds:
                return process
        elif isinstance(place, str | os.PathLike) and os.fspath(place).startswith(root):
            return process
    return None


def _watched(name: str, real: Call, *, writes: bool = False) -> Call:
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        folders = [kwargs.get(fd) for fd in ("dir_fd", "src_dir_fd", "dst_dir_fd")]
        process = _worker(*args[:2], *folders)
        act = partial(real, *args, **kwargs)
        if process is None:
            return act()
        return process.call(name, act, *args[:2], writes=writes)

    return call


def _watched_open(real: Call) -> Call:
    def call(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        process = _worker(file)
        if process is None:
            return real(file, mode, *args, **kwargs)
        raw = mode.replace("b", "").replace("t", "")
        act = partial(PlainFile, process, file, raw, kwargs.get("opener"))
        writes = any(letter in mode for letter in "wxa")
        opened = process.call(f"open {mode}", act, file, writes=writes)
        if "b" in mode:
            return opened
        return io.TextIOWrapper(opened, kwargs.get("encoding"), write_through=True)

    return call


def _watched_os_open(real: Call) -> Call:
    def call(path: Any, flags: int, *args: Any, dir_fd: int | None = None) -> int:  # noqa: ANN401
        process = _worker(path, dir_fd)

        def act() -> int:
            fd = int(real(path, flags, *args, dir_fd=dir_fd))
            if process is not None:
                process.fds.add(fd)
                process.owned.add(fd)
            return fd

        if process is None:
            return act()
        return process.call("os.open", act, path, writes=bool(flags & _CREATES))

    return call


def _watched_close(real: Call) -> Call:
    def call(fd: int) -> None:
        process = acting()
        if process is not None:
            process.fds.discard(fd)
            process.owned.discard(fd)
        real(fd)

    return call


def _listed(real: Call) -> Call:
    return lambda *path: sorted(real(*path))


def _scanned(real: Call) -> Call:
    def call(*path: Any) -> Entries:  # noqa: ANN401
        with real(*path) as entries:
            return Entries(list(entries))

    return call


def _kill(real: Call) -> Call:
    def call(pid: int, signal: int) -> None:
        process = acting()
        if process is None:
            real(pid, signal)
        elif signal or pid not in process.node.alive:
            raise ProcessLookupError(pid)

    return call


def _getpid(real: Call) -> Call:
    return lambda: real() if acting() is None else acting().pid  # type: ignore[union-attr]


def _urandom(real: Call) -> Call:
    def call(size: int) -> bytes:
        process = acting()
        drawn: bytes = real(size) if process is None else process.random(size)
        return drawn

    return call


def _os_file(real: Call) -> Call:
    def call(path: Any, mode: str = "r", *args: Any) -> Any:  # noqa: ANN401
        process = _worker(path)
        if process is None or not mode.startswith("w"):
            return real(path, mode, *args)

        def act() -> ArrowFile:
            return ArrowFile(process, real(path, mode, *args))

        return process.call(f"OSFile {mode}", act, path, writes=True)

    return call


def _replaced() -> Iterator[tuple[Any, str, Call]]:
    """What stands in for which operation of which module."""
    for module in (builtins, io):
        yield module, "open", _watched_open(builtins.open)
    yield os, "open", _watched_os_open(os.open)
    yield os, "close", _watched_close(os.close)
    yield os, "write", _watched("os.write", os.write, writes=True)
    yield os, "listdir", _watched("listdir", _listed(os.listdir))
    yield os, "scandir", _watched("scandir", _scanned(os.scandir))
    yield os, "kill", _kill(os.kill)
    yield os, "getpid", _getpid(os.getpid)
    for module, name in ((os, "urandom"), (random, "_urandom")):
        yield module, name, _urandom(os.urandom)
    yield mmap, "mmap", _watched("mmap", mmap.mmap)
    yield pa, "OSFile", _os_file(pa.OSFile)
    yield pa, "memory_map", _watched("memory_map", pa.memory_map)
    for name in (*_ROOMY, *_OTHERS):
        if hasattr(os, name):
            yield os, name, _watched(name, getattr(os, name), writes=name in _ROOMY)


_REPLACED = list(_replaced())


@contextmanager
def watched() -> Iterator[None]:
    """Let all file operations of workers go through their processes."""
    with ExitStack() as stack:
        for module, name, call in _REPLACED:
            stack.enter_context(patch.object(module, name, call))
        yield
