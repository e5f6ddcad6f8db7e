"""Arguments of a join as tests combine them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from shedjoin import Options

_SETTINGS = {field.name for field in fields(Options)}


def asked(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a call, in which its settings have become one ``Options``."""
    settings = {name: arguments[name] for name in arguments if name in _SETTINGS}
    others = {name: arguments[name] for name in arguments if name not in _SETTINGS}
    if not settings:
        return others
    return {**others, "options": replace(others.get("options", Options()), **settings)}
