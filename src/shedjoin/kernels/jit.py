"""The one place that knows numba.

Kernels are module-level functions over contiguous arrays. They release the GIL,
use no fast-math and run one thread each: Spark already gives a worker per core.
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

    numba tries the folder beside the source, then one under the user's cache
    folder. Code imported from a zip with no home folder has neither, and then
    fails at the first call rather than at import, so ask beforehand.
    """
    beside = Path(__file__).parent
    if beside.is_dir() and _can_write(beside / "__pycache__"):
        return True
    home = os.environ.get("HOME")
    return bool(home) and beside.is_dir() and _can_write(Path(str(home), ".cache"))


def _forget_stale_code() -> None:
    """Remove compiled code of other sources from the cache.

    numba looks at the time of a kernel's own file. A kernel that has another one
    compiled into it does not notice when that one's file changed, nor do files whose
    times were preserved by an installer.
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
"""Kernels check every index, for tests. The cache has code that does not."""
CACHED = not CHECKED and _cache_is_usable()
if CACHED:
    _forget_stale_code()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel at its first call, from the disk cache where there is one."""
    compiled: Any = numba.njit(cache=CACHED, nogil=True, boundscheck=CHECKED)
    return cast("Callable[P, R]", compiled(function))


def kernel_no_refcount(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel that makes no arrays, without counting references to any.

    In small functions that pass arrays on, the counting costs more than the work. The
    option is numba's own but not promised: without it the kernel is slower, not wrong.
    """
    return cast("Callable[P, R]", _without_refcount(function, inside=False))


def inline_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a step into the kernels that take it: a call would pass all arrays."""
    return cast("Callable[P, R]", _without_refcount(function, inside=True))


def _without_refcount(function: Callable[P, R], *, inside: bool) -> object:
    if CHECKED:  # only kernels that count references can raise
        return kernel(function)
    options: dict[str, Any] = {"cache": CACHED, "nogil": True, "forceinline": inside}
    njit: Any = numba.njit
    try:
        return njit(**options, _nrt=False)(function)
    except (KeyError, TypeError):
        return njit(**options)(function)
