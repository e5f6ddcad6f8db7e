"""Parts of the package that are imported when they are first used.

``import shedjoin as sj`` is enough to use parts such as ``sj.local``. They are imported
only when they are used, because the import takes time, and loads packages that the
driver of a Spark query does not need.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_PARTS = ("lab", "local", "plan", "policies", "testing")


def __getattr__(name: str) -> ModuleType:
    if name in _PARTS:
        return import_module(f"shedjoin.{name}")
    raise AttributeError(f"module 'shedjoin' has no attribute {name!r}")
