"""Interface of a relation that says which keys meet, for a join under a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from shedjoin.kernels.round import Looks
from shedjoin.models.asked import AskedModels
from shedjoin.models.learned import Models
from shedjoin.operators.frame.combine import Met
from shedjoin.operators.frame.ordered import Ordered
from shedjoin.types import BoolArray, FloatArray, IntArray

RIGHT = 1
LOOKS = 1 << 20
"""About how many looks are in memory at once. If there are many, blocks are small."""


class Through(Protocol):
    """A relation that says which keys of two streams go together, and when."""

    @property
    def is_fixed(self) -> bool:
        """Whether a key without a relation row will never have one."""

    @property
    def most(self) -> int:
        """Limit of the number of relation rows with the same key."""

    def looks(self, stream: IntArray, key: IntArray, time: IntArray) -> Looks:
        """Keys of the other stream that rows look for."""

    def expiry(
        self,
        stream: IntArray,
        key: IntArray,
        time: IntArray,
        looks: Looks | None = None,
    ) -> IntArray:
        """Times until which rows can be related to others, as far as is known."""

    def models(self, models: Models) -> AskedModels:
        """Models as a policy sees them."""

    def same_keys(self, met: Sequence[Met]) -> BoolArray:
        """Compare true keys of rows that have met: different ones may share a hash."""


class Counted(NamedTuple):
    """Arrivals as the models count them.

    An arrival of the right stream counts once for each left key that it looks for,
    under that key. So two rows can meet if they count under the same key. The entries
    of an arrival begin at ``first``.
    """

    stream: IntArray
    key: IntArray
    time: IntArray
    importance: FloatArray
    size: IntArray
    first: IntArray | None = None

    @staticmethod
    def of(rows: Ordered, part: slice, looks: Looks | None) -> Counted:
        """Entries of some arrivals, whose looks are given if there is a relation."""
        stream, key = rows.stream[part], rows.key[part]
        time, importance, size = rows.time[part], rows.importance[part], rows.size[part]
        if looks is None:
            return Counted(stream, key, time, importance, size)
        each = np.diff(looks.first)
        often = np.where(stream == RIGHT, each, 1)
        at = np.repeat(np.arange(key.size), often)
        counted = key[at]
        of_right = np.repeat(stream == RIGHT, each)
        counted[stream[at] == RIGHT] = looks.key[of_right]
        first = np.cumsum(often) - often
        return Counted(stream[at], counted, time[at], importance[at], size[at], first)

    def place(self, row: IntArray, look: IntArray) -> IntArray:
        """Entries that matches count for, from their arrivals and looks."""
        if self.first is None:
            return row
        at: IntArray = self.first[row]
        return at + np.where(
            self.stream[np.minimum(at, self.stream.size - 1)] == RIGHT, look, 0
        )
