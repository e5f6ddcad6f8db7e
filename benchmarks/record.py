"""What a benchmark leaves behind: sizes, seed, versions, figures."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("shedjoin", "pyspark", "pyarrow", "numba", "numpy")


@dataclass(slots=True)
class Record:
    """Result of one benchmark; ``figures`` are what it is about."""

    name: str
    sizes: dict[str, Any]
    figures: dict[str, Any]
    details: dict[str, Any] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        facts = asdict(self)
        figures = facts.pop("figures")
        versions = {name: version(name) for name in PACKAGES}
        versions |= {"python": platform.python_version()}
        machine = {"cores": os.cpu_count(), "system": platform.system()}
        facts |= {"versions": versions, "machine": machine}
        path.write_text(json.dumps(figures | facts, indent=2) + "\n")
