"""What a join under a budget asks of a relation, where one says which keys meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from shedjoin.kernels.round import Looks
from shedjoin.models.learned import Models
from shedjoin.operators.frame.combine import Met
from shedjoin.operators.frame.ordered import Ordered
from shedjoin.types import BoolArray, FloatArray, IntArray

RIGHT = 1
LOOKS = 1 << 20
"""Looks that are in memory at once, about: where there are many, blocks are small."""


class Through(Protocol):
    """Says which keys of two streams go together, and when."""

    @property
    def is_fixed(self) -> bool:
        """Whether who has no relation row now will never have one."""

    @property
    def most(self) -> int:
        """At most so many relation rows have the same key."""

    def looks(self, stream: IntArray, key: IntArray, time: IntArray) -> Looks:
        """Tell the keys of the other stream that rows look for."""

    def expiry(
        self,
        stream: IntArray,
        key: IntArray,
        time: IntArray,
        looks: Looks | None = None,
    ) -> IntArray:
        """Tell until when rows can be related to others, as far as is known."""

    def models(self, models: Models) -> Models:
        """Give the models as a policy is to see them."""

    def same_keys(self, met: Sequence[Met]) -> BoolArray:
        """Check true keys of rows that have met: different ones may share a hash."""


class Counted(NamedTuple):
    """Arrivals as the models count them.

    Those of the right stream count once for each key of the left one that they look
    for, under that key: so two rows can meet if they count under the same key.
    """

    stream: IntArray
    key: IntArray
    time: IntArray
    importance: FloatArray

    @staticmethod
    def of(rows: Ordered, part: slice, looks: Looks | None) -> Counted:
        """Count some arrivals, whose looks are given if there is a relation."""
        stream, key = rows.stream[part], rows.key[part]
        time, importance = rows.time[part], rows.importance[part]
        if looks is None:
            return Counted(stream, key, time, importance)
        each = np.diff(looks.first)
        at = np.repeat(np.arange(key.size), np.where(stream == RIGHT, each, 1))
        counted = key[at]
        of_right = np.repeat(stream == RIGHT, each)
        counted[stream[at] == RIGHT] = looks.key[of_right]
        return Counted(stream[at], counted, time[at], importance[at])


def counted_keys(
    row: IntArray, look: IntArray, stream: IntArray, key: IntArray, looks: Looks
) -> IntArray:
    """Tell under which keys matches count: arrivals, and the looks that found them."""
    found: IntArray = key[row]
    right = np.flatnonzero(stream[row] == RIGHT)
    found[right] = looks.key[looks.first[row[right]] + look[right]]
    return found
