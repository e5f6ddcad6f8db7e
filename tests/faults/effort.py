"""How much is tried: a little with all other tests, a lot by ``make test-faults``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")
S = TypeVar("S")
_GIVEN = os.environ.get("FAULT_SEQUENCES")
THOROUGH = _GIVEN is not None
SEQUENCES = int(_GIVEN) if _GIVEN is not None else settings().max_examples // 16
"""Random sequences for each kind of join."""
FEWEST = 2
"""Hypothesis begins with the simplest sequence, in which nothing goes wrong."""


def combined(firsts: Sequence[S], seconds: Iterable[T]) -> list[tuple[S, T]]:
    """Return all pairs or, in the ordinary run, one pair for each of the firsts."""
    ordered = list(seconds)
    return [
        (first, second)
        for number, first in enumerate(firsts)
        for place, second in enumerate(ordered)
        if THOROUGH or number % len(ordered) == place
    ]
