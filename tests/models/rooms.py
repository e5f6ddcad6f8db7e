"""Room for one model, as the models of a shard would give it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.models.words import Shape, cut, size_of
from shedjoin.types import IntArray


def room(shapes: Sequence[Shape]) -> list[IntArray]:
    """Arrays of these shapes: nothing is known yet."""
    return cut(np.zeros(size_of(shapes), np.int64), shapes)
