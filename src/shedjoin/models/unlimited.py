"""How many matches a join without a limit would find, by the counts of keys.

The monitored slice counts the matches of some keys. Where a few keys have most of them,
it says little of the rest. The counts of keys say what all keys should have, and the
slice how right that is: so the one corrects the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.models.frequency import Frequency
from shedjoin.models.words import reals
from shedjoin.types import BoolArray, IntArray

_EXPECTED, _COUNTED = range(2)
_SURE = 4.0
"""Pairs as expected, which count beside those that came: at first there are few."""
_SOONER = 4
"""Times as fast as counts of keys fade: how right they are changes with their rates."""


class Since(NamedTuple):
    """A moment: its clock, the time that had passed until it, and since."""

    clock_us: int
    passed_us: int
    later_us: int


class Unlimited:
    """Matches of all keys.

    Parameters
    ----------
    room : array
        Two words: pairs of monitored rows, as expected and as they came.
    keep_us : tuple of int
        How long a row of each stream can be matched.
    frequency : Frequency
        The counts of keys.
    """

    def __init__(
        self, room: IntArray, keep_us: tuple[int, ...], frequency: Frequency
    ) -> None:
        self._pairs = reals(room)
        self._keep_us = keep_us
        self._frequency = frequency
        self.begin()

    def begin(self) -> None:
        """Begin to add matches up."""
        self.expected = 0.0

    @property
    def matches(self) -> float:
        """Matches of all keys since the beginning."""
        expected, counted = self._pairs + _SURE
        return self.expected * float(counted / expected)

    def expect(
        self, stream: IntArray, key: IntArray, watched: BoolArray, since: Since
    ) -> None:
        """Add the matches that arrivals have if keys come as they did until then."""
        frequency = self._frequency
        self._pairs *= frequency.faded(since.later_us) ** _SOONER
        waits = np.minimum(self._keep_us, max(0, since.passed_us)) * 1e-6
        rate = frequency.per_count / frequency.reached(since.passed_us)
        there = frequency.of_partners(stream, key, since.clock_us, since.passed_us)[0]
        each = np.maximum(0.0, waits * rate)
        others = [np.prod(np.delete(each, own)) for own in range(each.size)]
        there = there * np.array(others)[stream]
        self._pairs[_EXPECTED] += there[watched].sum()
        self.expected += float(there.sum())

    def count(self, pairs: int) -> None:
        """Add the pairs of monitored rows that came."""
        self._pairs[_COUNTED] += pairs
