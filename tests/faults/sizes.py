"""Sizes at which state is tidied up and results are given out, here for few rows.

The streams of these tests are short. With the sizes of the library their segments would
never be merged, no change log would be cut, and all results would come in one frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from unittest.mock import patch

_SMALL: tuple[tuple[str, str, int], ...] = (
    ("spark.operator", "PIECE_BYTES", 16384),
    ("spark.operator", "_FRAME_BLOBS", 1),
    ("spark.spool", "HELD_BYTES", 4096),
    ("state.merging", "FANOUT", 3),
    ("state.merging", "_SMALLEST_BYTES", 512),
    ("state.changes", "_MERGED", 3),
    ("operators.frame.runs", "_SLACK_ROWS", 16),
    ("operators.budgeted.rewriting", "_MERGE", 4),
    ("operators.budgeted.rewriting", "_SLACK_BYTES", 1024),
    ("operators.multiway.store", "_SLACK_ROWS", 16),
    ("operators.multiway.shedder", "_LEAST_ROWS", 16),
    ("operators.multiway.shedder", "_LEAST_BYTES", 4096),
    ("operators.star.relation_store", "_SLACK", 8),
)
"""Modules of the package, and what their variables are."""


@contextmanager
def small_sizes() -> Iterator[None]:
    """Make these sizes small, for workers and for runs without interruption alike."""
    with ExitStack() as stack:
        for module, name, size in _SMALL:
            there = import_module(f"shedjoin.{module}")
            stack.enter_context(patch.object(there, name, size))
        yield
