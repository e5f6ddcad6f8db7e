"""Which keys of two streams match in a join under a budget: equal or related ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from shedjoin.kernels.round import Looks
from shedjoin.models.asked import AskedModels
from shedjoin.models.learned import Models
from shedjoin.operators.frame.combine import Met, equal_keys
from shedjoin.operators.frame.ordered import Ordered
from shedjoin.spec.relation import ALWAYS_US
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import BoolArray, FloatArray, IntArray

RIGHT = 1
LOOKS = 1 << 20
"""About how many looks are in memory at once. If there are many, blocks are small."""


class Through(Protocol):
    """Says which keys of two streams go together, and when."""

    @property
    def relates(self) -> bool:
        """Whether there is a relation. Otherwise a row looks for its own key."""

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

    def same_keys(self, spec: JoinSpec, met: Sequence[Met]) -> BoolArray:
        """Compare true keys of rows that have met: different ones may share a hash."""


class OwnKeys:
    """No relation: rows match if their keys are equal."""

    relates = is_fixed = False
    most = 1

    def looks(self, stream: IntArray, key: IntArray, time: IntArray) -> Looks:
        """Give each row its own key, at all times."""
        del stream, time
        always = np.full(key.size, ALWAYS_US)
        return Looks(np.arange(key.size + 1), key, -always, always)

    def expiry(
        self,
        stream: IntArray,
        key: IntArray,
        time: IntArray,
        looks: Looks | None = None,
    ) -> IntArray:
        """Give times that never come."""
        del stream, key, looks
        return np.full(time.size, ALWAYS_US)

    def models(self, models: Models) -> AskedModels:
        """Give the models as they are."""
        return models

    def same_keys(self, spec: JoinSpec, met: Sequence[Met]) -> BoolArray:
        """Compare true keys of rows that have met: different ones may share a hash."""
        return equal_keys(spec, met)


OWN_KEYS = OwnKeys()


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
    def of(rows: Ordered, part: slice, looks: Looks) -> Counted:
        """Entries of some arrivals; without a relation, these have no looks."""
        stream, key = rows.stream[part], rows.key[part]
        time, importance, size = rows.time[part], rows.importance[part], rows.size[part]
        if not looks.first.size:
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
