"""The code of the how-to pages runs as written, from the first block to the last."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from .pages import blocks, run


def test_write_a_policy(tmp_path: Path) -> None:
    policy, *rest = blocks("docs/how-to/write-a-policy.md")
    assert len(policy.splitlines()) <= 22
    printed = run(sys.executable, "".join([policy, *rest]), tmp_path)
    few, many = map(int, re.findall(r"(\d+) keys", printed))
    assert many > 1.5 * few
