"""Decides which keys of two streams match in a join with a budget.

Without a relation, equal keys match. With a relation, keys match if it connects them.
"""

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
"""Approximate limit of the looks in memory. If arrivals have many looks each, blocks
are smaller."""


class Through(Protocol):
    """Decides which keys of two streams match, and when."""

    @property
    def relates(self) -> bool:
        """Whether there is a relation. Without one, a row looks for its own key."""

    @property
    def is_fixed(self) -> bool:
        """Whether the relation does not change."""

    @property
    def most(self) -> int:
        """Upper bound of the number of relation rows with the same key."""

    def looks(self, stream: IntArray, key: IntArray, time: IntArray) -> Looks:
        """Keys of the other stream for which rows look, each with a range of times."""

    def expiry(
        self,
        stream: IntArray,
        key: IntArray,
        time: IntArray,
        looks: Looks | None = None,
    ) -> IntArray:
        """Time until which each row is related to keys of the other stream.

        Only the relation rows that have come so far are used.
        """

    def models(self, models: Models) -> AskedModels:
        """The models in the form in which a policy queries them in this join."""

    def same_keys(self, spec: JoinSpec, met: Sequence[Met]) -> BoolArray:
        """For each match, whether the keys themselves match, not only their hashes."""


class OwnKeys:
    """No relation: rows match if their keys are equal."""

    relates = is_fixed = False
    most = 1

    def looks(self, stream: IntArray, key: IntArray, time: IntArray) -> Looks:
        """For each row, a look for its own key at all times."""
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
        """For each row, a time that is never reached."""
        del stream, key, looks
        return np.full(time.size, ALWAYS_US)

    def models(self, models: Models) -> AskedModels:
        """The models unchanged."""
        return models

    def same_keys(self, spec: JoinSpec, met: Sequence[Met]) -> BoolArray:
        """For each match, whether the keys are equal, not only their hashes."""
        return equal_keys(spec, met)


OWN_KEYS = OwnKeys()


class Counted(NamedTuple):
    """Entries that the models count, for arrivals.

    An arrival of the left stream has one entry, under its own key. An arrival of the
    right stream has one entry under each left key that it looks for. So rows that can
    match have entries under the same key. The entries of an arrival begin at ``first``.
    Without a relation, each arrival has one entry, and ``first`` is None.
    """

    stream: IntArray
    key: IntArray
    time: IntArray
    importance: FloatArray
    size: IntArray
    first: IntArray | None = None

    @staticmethod
    def of(rows: Ordered, part: slice, looks: Looks) -> Counted:
        """Entries of the arrivals of a part; without a relation, ``looks`` is empty."""
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
        """For each match, the entry that counts it, given its arrival and its look."""
        if self.first is None:
            return row
        at: IntArray = self.first[row]
        return at + np.where(
            self.stream[np.minimum(at, self.stream.size - 1)] == RIGHT, look, 0
        )
