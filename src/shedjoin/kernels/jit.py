"""The one place that knows numba.

Kernels are module-level functions over contiguous arrays. They release the GIL,
use no fast-math and run one thread each: Spark already gives a worker per core.
"""

from __future__ import annotations

import os
import tempfile
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

    numba tries the folder beside the source, then one under the user's cache
    folder. Code imported from a zip with no home folder has neither, and then
    fails at the first call rather than at import, so ask beforehand.
    """
    beside = Path(__file__).parent
    if beside.is_dir() and _can_write(beside / "__pycache__"):
        return True
    home = os.environ.get("HOME")
    return bool(home) and beside.is_dir() and _can_write(Path(str(home), ".cache"))


CACHED = _cache_is_usable()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel at its first call, from the disk cache where there is one."""
    return cast("Callable[P, R]", numba.njit(cache=CACHED, nogil=True)(function))


def lean(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel that makes no arrays, without counting references to any.

    In small functions that pass arrays on, the counting costs more than the work. The
    option is numba's own but not promised: without it the kernel is slower, not wrong.
    """
    return cast("Callable[P, R]", _lean(function, inside=False))


def step(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a step into the kernels that take it: a call would pass all arrays."""
    return cast("Callable[P, R]", _lean(function, inside=True))


def _lean(function: Callable[P, R], *, inside: bool) -> object:
    options: dict[str, Any] = {"cache": CACHED, "nogil": True, "forceinline": inside}
    njit: Any = numba.njit
    try:
        return njit(**options, _nrt=False)(function)
    except (KeyError, TypeError):
        return njit(**options)(function)
