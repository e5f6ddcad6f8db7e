"""Room for the models: one array of words, cut into the arrays of each model.

All that a shard has learned is one array, so that it can be kept in a file of the node,
compared with what is stored, and written as what changed.
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
    """Words that arrays of these shapes take together."""
    return sum(map(prod, shapes))


def cut(words: IntArray, shapes: Sequence[Shape]) -> list[IntArray]:
    """Arrays of these shapes, one after the other, which share the memory of words."""
    ends = accumulate(map(prod, shapes), initial=0)
    return [
        words[start:end].reshape(shape)
        for (start, end), shape in zip(pairwise(ends), shapes, strict=True)
    ]


def reals(words: IntArray) -> FloatArray:
    """The same memory as real numbers."""
    return words.view(np.float64)
