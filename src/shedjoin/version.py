"""The version of this package, as installed."""

from __future__ import annotations

from importlib.metadata import version

VERSION = version("shedjoin")
