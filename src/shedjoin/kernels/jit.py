"""Compiles kernels. This is the only module that imports numba.

Kernels are module-level functions over contiguous arrays. They release the GIL, use no
fast-math, and run in one thread each, because Spark already has a worker for each core.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _cache_is_usable() -> bool:
    """Whether numba will find a folder for compiled code.

    numba tries the folder of the source, and then one under the user's cache folder.
    Code that is imported from a zip, without a home folder, has neither of them. Then
    kernels would fail at their first call. So this is checked at import.
    """
    beside = Path(__file__).parent
    if beside.is_dir() and _can_write(beside / "__pycache__"):
        return True
    home = os.environ.get("HOME")
    return bool(home) and beside.is_dir() and _can_write(Path(str(home), ".cache"))


def _forget_stale_code() -> None:
    """Remove the code of changed sources from the cache.

    numba compares the time of a kernel's own file only. It does not notice a change of
    another kernel that was compiled into this kernel. It also does not notice a changed
    file if an installer has set the time of the old file.
    """
    beside = Path(__file__).parent
    sources = sha256()
    for source in sorted(beside.glob("*.py")):
        sources.update(source.read_bytes())
    stamp = beside / "__pycache__" / f"kernels-{sources.hexdigest()[:16]}.stamp"
    with suppress(OSError):
        if not stamp.exists():
            for old in stamp.parent.glob("*"):
                if old.suffix in (".nbi", ".nbc", ".stamp"):
                    old.unlink(missing_ok=True)
            stamp.touch()


CHECKED = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
"""Whether kernels check every index, as in tests. Such kernels are not cached, because
the cache holds code without these checks."""
CACHED = not CHECKED and _cache_is_usable()
if CACHED:
    _forget_stale_code()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel at its first call, or load it from the cache on disk."""
    compiled: Any = numba.njit(cache=CACHED, nogil=True, boundscheck=CHECKED)
    return cast("Callable[P, R]", compiled(function))


def kernel_no_refcount(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel that makes no arrays, without counting references to arrays.

    In small functions that pass arrays on, counting references costs more than the
    work. The option exists in numba, but is not documented. Without it, the kernel is
    slower but gives the same results.
    """
    return cast("Callable[P, R]", _without_refcount(function, inside=False))


def inline_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function into its callers, because a call would pass all arrays."""
    return cast("Callable[P, R]", _without_refcount(function, inside=True))


def _without_refcount(function: Callable[P, R], *, inside: bool) -> object:
    if CHECKED:  # a kernel that counts no references cannot raise an error
        return kernel(function)
    options: dict[str, Any] = {"cache": CACHED, "nogil": True, "forceinline": inside}
    njit: Any = numba.njit
    try:
        return njit(**options, _nrt=False)(function)
    except (KeyError, TypeError):
        return njit(**options)(function)
