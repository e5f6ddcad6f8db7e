"""How many random cases are tried: a third with all tests, all by ``make test-all``."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("TEST_EFFORT") == "all"


def cases(number: int) -> int:
    """Tell how many of so many cases to try in this run."""
    return number if THOROUGH else -(-number // 3)
