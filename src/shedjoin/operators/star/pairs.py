"""Compares relation rows: finds rows that came before, and the deletions that follow.

A *version* is here a relation row for a pair of keys, or a deletion of such a row. Each
function sorts all versions once. So the cost per version hardly depends on how many
versions of one pair a micro-batch has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.types import BoolArray, IntArray

NONE = -1
_LAST = np.iinfo(np.int64).max


class Versions(NamedTuple):
    """Relation rows and deletions: number of the pair of keys, begin, and kind.

    For a deletion, ``begin`` is the time of the deletion.
    """

    pair: IntArray
    begin: IntArray
    deletion: BoolArray

    def followed_by(self, others: Versions) -> Versions:
        """Append other versions."""
        return Versions(
            np.concatenate([self.pair, others.pair]),
            np.concatenate([self.begin, others.begin]),
            np.concatenate([self.deletion, others.deletion]),
        )

    def take(self, at: IntArray) -> Versions:
        """Select some versions."""
        return Versions(self.pair[at], self.begin[at], self.deletion[at])


def number_pairs(*parts: IntArray) -> tuple[IntArray, IntArray]:
    """Number different pairs from 0 on; also return one position of each pair.

    >>> number_pairs(np.array([7, 5, 7]), np.array([1, 1, 1]))
    (array([1, 0, 1]), array([1, 0]))
    """
    order = np.lexsort(parts[::-1])
    new = np.ones(order.size, np.bool_)
    new[1:] = False
    for part in parts:
        new[1:] |= np.diff(part[order]) != 0
    number = np.empty(order.size, np.int64)
    number[order] = np.cumsum(new) - 1
    return number, order[new]


def same_version(asked: Versions, known: Versions) -> IntArray:
    """Index of each version among the known versions; ``NONE`` if it is not known.

    >>> no = np.zeros(2, np.bool_)
    >>> zero = np.zeros(2, np.int64)
    >>> asked = Versions(zero, np.array([3, 4]), no)
    >>> same_version(asked, Versions(zero, np.array([9, 3]), no))
    array([ 1, -1])
    """
    both = known.followed_by(asked)
    # The sort is stable, so a known version comes before equal versions.
    order = np.lexsort((both.deletion, both.begin, both.pair))
    is_known = order < known.pair.size
    new = np.ones(order.size, np.bool_)
    new[1:] = False
    for each in both:
        new[1:] |= each[order][1:] != each[order][:-1]
    first = order[np.maximum.accumulate(np.where(new, np.arange(order.size), 0))]
    found = np.where(first < known.pair.size, first, NONE)
    place = np.empty(asked.pair.size, np.int64)
    place[order[~is_known] - known.pair.size] = found[~is_known]
    return place


def next_deletion(versions: Versions) -> IntArray:
    """For each version, the time of the next deletion of the same pair.

    If no deletion follows, this is the greatest integer. A deletion does not end a row
    that begins at the time of the deletion.

    >>> two = np.zeros(3, np.int64)
    >>> deletion = np.array([False, True, False])
    >>> next_deletion(Versions(two, np.array([1, 5, 5]), deletion))[0]
    np.int64(5)
    """
    pair, begin, deletion = versions
    order = np.lexsort((~deletion, begin, pair))  # at one time deletions come first
    places = np.where(deletion[order], np.arange(order.size), _LAST)
    # A deletion is not followed by itself.
    after = np.append(places[1:], _LAST)
    following = np.minimum.accumulate(after[::-1])[::-1]
    at = order[np.minimum(following, order.size - 1)]
    there = (following < _LAST) & (pair[at] == pair[order])
    time = np.full(order.size, _LAST)
    time[order] = np.where(there, begin[at], _LAST)
    return time
