"""What ``import shedjoin`` costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY_OR_OPTIONAL = ["numba", "pyspark", "pandas", "matplotlib", "typer", "rich"]


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """The modules that a fresh interpreter holds after ``import shedjoin``."""
    program = "import sys, shedjoin; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def test_the_package_is_loaded(loaded: set[str]) -> None:
    assert "shedjoin" in loaded


@pytest.mark.parametrize("package", HEAVY_OR_OPTIONAL)
def test_import_does_not_load(package: str, loaded: set[str]) -> None:
    assert package not in loaded
