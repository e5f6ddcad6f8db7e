"""Room for the models: one array of words, which is cut into the arrays of each model.

Everything that a shard has learned is in this array. So the array can be kept in a file
of the node. It is compared with what is stored, and only changed words are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import prod
from typing import TypeAlias

import numpy as np

from shedjoin.types import FloatArray, IntArray

Shape: TypeAlias = tuple[int, ...]


def size_of(shapes: Sequence[Shape]) -> int:
    """Number of words that arrays of these shapes take together."""
    return sum(map(prod, shapes))


def cut(words: IntArray, shapes: Sequence[Shape]) -> list[IntArray]:
    """Cut ``words`` into arrays of these shapes. The memory is shared, not copied."""
    ends = accumulate(map(prod, shapes), initial=0)
    return [
        words[start:end].reshape(shape)
        for (start, end), shape in zip(pairwise(ends), shapes, strict=True)
    ]


def reals(words: IntArray) -> FloatArray:
    """View the same memory as floating-point numbers."""
    return words.view(np.float64)
