"""Code of the pages, and how it is run: as written, away from the sources."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def blocks(page: str) -> list[str]:
    """All blocks of Python of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def run(python: str, code: str, folder: Path) -> str:
    """What some code prints."""
    environment = dict(os.environ)
    if python != sys.executable:  # an environment of its own has its own packages
        environment.pop("PYTHONPATH", None)
    environment |= {"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python}
    done = subprocess.run(
        [python, "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
