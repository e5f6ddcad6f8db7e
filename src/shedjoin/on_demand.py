"""Parts of the package that are imported when they are asked for.

``import shedjoin as sj`` is enough for ``sj.local`` and the like. They need packages
that a driver does without, and time to start.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_PARTS = ("lab", "local", "plan", "policies", "testing")


def __getattr__(name: str) -> ModuleType:
    if name in _PARTS:
        return import_module(f"shedjoin.{name}")
    raise AttributeError(f"module 'shedjoin' has no attribute {name!r}")
