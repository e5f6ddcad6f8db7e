"""The README's examples run as written, after ``pip install .[all]``."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from .pages import ROOT, blocks, run

BLOCKS = blocks("README.md")
LOCAL, ON_SPARK = BLOCKS


def test_which_examples_there_are() -> None:
    assert ["pyspark" in block for block in BLOCKS] == [False, True]


def test_the_quickstart_without_spark(tmp_path: Path) -> None:
    """It prints what the page shows under it."""
    shown = (ROOT / "README.md").read_text().partition(LOCAL)[2].split("```")[2]
    assert run(sys.executable, LOCAL, tmp_path).split() == shown.split()


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.newest_only
def test_the_quickstart_on_spark(tmp_path: Path) -> None:
    printed = run(sys.executable, ON_SPARK, tmp_path)
    assert "clicked_at" in printed
    assert "matched" in printed


@pytest.mark.spark
@pytest.mark.newest_only
@pytest.mark.long
def test_both_quickstarts_in_a_fresh_environment(tmp_path: Path) -> None:
    venv.create(tmp_path / "fresh", with_pip=True)
    python = str(tmp_path / "fresh" / "bin" / "python")
    pins = ROOT / "constraints.txt"
    install = [python, "-m", "pip", "install", "-q", "-c", str(pins), f"{ROOT}[all]"]
    subprocess.run(install, check=True, cwd=tmp_path, capture_output=True)
    assert "of the results" in run(python, LOCAL, tmp_path)
    policy = "".join(blocks("docs/how-to/write-a-policy.md"))
    assert "RareKeys() 183 keys" in run(python, policy, tmp_path)
    printed = run(python, ON_SPARK, tmp_path)
    assert "clicked_at" in printed
    assert "matched" in printed
    info = subprocess.run(
        [str(tmp_path / "fresh" / "bin" / "shedjoin"), "info"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "state format" in info.stdout
