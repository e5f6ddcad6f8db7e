"""Space on the local disks of a node: folders of copies of state, and their limit."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple, Protocol

from shedjoin.errors import ParameterError
from shedjoin.spec.budget import parse_bytes
from shedjoin.spec.window import parse_duration

log = logging.getLogger("shedjoin")
FOLDER = "shedjoin"
ENABLED = "spark.shedjoin.copies.enabled"
MAX_BYTES = "spark.shedjoin.copies.maxBytes"
MAX_AGE = "spark.shedjoin.copies.maxAge"
_SWEEP_EVERY_S, _SWEEP_PART = 1.0, 0.02
"""Least seconds between two sweeps, and the part of the time that sweeps may take."""
_next_sweep: dict[Path, float] = {}
_works = count()
_WORKER = token_hex(4)
"""Distinguishes workers of two containers: their process ids may be the same."""


class Conf(Protocol):
    """Settings of a session."""

    def get(self, key: str, default: str) -> str | None:
        """Give a setting."""


class CopySettings(NamedTuple):
    """Settings of copies on each node: whether to keep them, their size, and their age.

    The age counts from the last use of a copy. Without ``max_bytes``, copies may take
    half of the disk space that would be free without them.
    """

    enabled: bool = True
    max_bytes: int | None = None
    max_age_s: float = 3600.0

    @staticmethod
    def of(conf: Conf) -> CopySettings:
        """Read the settings of a session."""
        enabled = str(conf.get(ENABLED, "true")).lower()
        if enabled not in ("true", "false"):
            raise ParameterError(
                f"{ENABLED}={enabled!r} is neither true nor false.",
                fix=f'spark.conf.set("{ENABLED}", "false").',
            )
        return CopySettings(
            enabled=enabled == "true",
            max_bytes=_bytes(str(conf.get(MAX_BYTES, ""))),
            max_age_s=_seconds(str(conf.get(MAX_AGE, "1 hour"))),
        )


DEFAULT = CopySettings()


def _bytes(text: str) -> int | None:
    if not text or text.isdecimal():
        return int(text) if text else None
    try:
        return parse_bytes(text)
    except ParameterError:
        raise ParameterError(
            f"{MAX_BYTES}={text!r} is not a size.",
            fix=f'spark.conf.set("{MAX_BYTES}", "20 GB"), or a number of bytes.',
        ) from None


def _seconds(text: str) -> float:
    try:
        seconds = parse_duration(text) * 1e-6
    except ParameterError:
        seconds = -1.0
    if seconds < 0:
        raise ParameterError(
            f"{MAX_AGE}={text!r} is not a time span.",
            fix=f'spark.conf.set("{MAX_AGE}", "30 minutes").',
        )
    return seconds


def local_roots() -> list[Path]:
    """The library's folder in each of Spark's local folders of this executor."""
    named = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    folders = [folder for folder in named if folder] or [tempfile.gettempdir()]
    return [Path(folder, FOLDER) for folder in folders]


@cache
def system_boot() -> str:
    """Identity of this run of the operating system, if the system has one."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        return "boot"
    return boot.strip()[:8]


def writable_roots(first: int = 0) -> Iterator[Path]:
    """The library's local folders that can be created, beginning with ``first``."""
    roots = local_roots()
    for place in range(len(roots)):
        root = roots[(first + place) % len(roots)]
        with suppress(OSError):
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            yield root


def work_name() -> str:
    """A name for a folder that only this worker uses."""
    return f"work-{os.getpid()}-{_WORKER}-{next(_works)}"


def remove_copy(folder: Path) -> None:
    """Remove a folder, after renaming it so that no worker takes it any more."""
    trash = folder.with_name(work_name())
    with suppress(OSError):
        folder.rename(trash)
        shutil.rmtree(trash, ignore_errors=True)


def sweep(root: Path, settings: CopySettings) -> None:
    """Remove copies that were not used for long, and the oldest if space is short.

    Such copies belong to stopped queries, or to shards that have moved to other nodes.
    Files of killed workers are removed as well. A sweep runs once a second at most, and
    less often if there are many copies.
    """
    start = time.monotonic()
    if start < _next_sweep.get(root, start):
        return
    try:
        _sweep(root, settings)
    except OSError as error:  # other workers or Spark may have removed files
        log.info("Copies of state in %s were not swept: %s", root, error)
    took = time.monotonic() - start
    pause = max(min(_SWEEP_EVERY_S, settings.max_age_s), took / _SWEEP_PART)
    _next_sweep[root] = start + pause


def _sweep(root: Path, settings: CopySettings) -> None:
    found = sorted(_copies(root))
    held = sum(copy.size for copy in found)
    free = shutil.disk_usage(root).free
    most = settings.max_bytes
    if most is None:
        most = (held + free) // 2
    oldest = time.time() - settings.max_age_s
    for copy in found:
        if copy.used_s < oldest or held > most:
            remove_copy(copy.folder)
            held -= copy.size
            for parent in (copy.folder.parent, copy.folder.parent.parent):
                with suppress(OSError):
                    parent.rmdir()


class _Copy(NamedTuple):
    """A copy that no worker has taken: its last use, its folder and its bytes."""

    used_s: float
    folder: Path
    size: int


def _copies(root: Path) -> Iterator[_Copy]:
    for folder in root.glob("*/*/*/*"):
        with suppress(OSError):
            if not _in_use(folder):
                used = folder.stat().st_mtime
                size = sum(512 * file.stat().st_blocks for file in folder.iterdir())
                yield _Copy(used, folder, size)


def _in_use(folder: Path) -> bool:
    """Whether a running worker, possibly this one, has taken the folder."""
    kind, _, process = folder.name.partition("-")
    if kind != "work":
        return False
    try:
        os.kill(int(process.partition("-")[0]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
