"""Routes: the shards of rows that are joined through a relation that does not change.

A *component* is a set of keys that relation rows connect. If the relation has many
small components, all keys of a component go to one shard, and so every row goes to one
shard. Otherwise a relation row is in the shard of its right key, and a left row goes to
every shard that has a relation row with its key.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.placing import Placed, between, shard_of
from shedjoin.columns.relating import Related
from shedjoin.types import IntArray

_MANY = 4
"""With this many components per shard, shards are about equally full. In addition, the
mean number of relation rows per shard must be this many times the largest component."""


class Side(NamedTuple):
    """Shards by key: ``key[n]`` has the shards ``shard[first[n] : first[n + 1]]``."""

    key: IntArray
    first: IntArray
    shard: IntArray

    @staticmethod
    def of(key: IntArray, shard: IntArray) -> Side:
        """Group the shards by key."""
        order = np.lexsort((shard, key))
        key, shard = key[order], shard[order]
        new = np.ones(key.size, np.bool_)
        new[1:] = (key[1:] != key[:-1]) | (shard[1:] != shard[:-1])
        keys, first = np.unique(key[new], return_index=True)
        return Side(keys, np.append(first, np.count_nonzero(new)), shard[new])

    def placed(self, key: IntArray) -> Placed:
        """Find the rows whose key is in the relation, with their shards."""
        if not self.key.size:
            return Placed(np.zeros(0, np.int64), np.zeros(0, np.int64))
        # Looking up sorted keys is several times as fast: they are near each other.
        order = np.argsort(key)
        at = np.empty(key.size, np.int64)
        at[order] = np.searchsorted(self.key, key[order])
        at = np.minimum(at, self.key.size - 1)
        row = np.flatnonzero(self.key[at] == key)
        copy, place = between(self.first[at[row]], self.first[at[row] + 1] - 1)
        return Placed(row[copy], self.shard[place])


class Routes(NamedTuple):
    """Shards of the keys of both streams, and of relation rows.

    ``components`` is the number of connected components, and ``largest`` the number of
    relation rows in the largest one. ``together`` says whether each component stays in
    one shard.
    """

    sides: tuple[Side, Side]
    shard: IntArray
    components: int
    largest: int
    together: bool

    @staticmethod
    def of(rows: pa.RecordBatch, shards: int) -> Routes:
        """Find the routes of packed relation rows."""
        left, right, *_ = Related.of(rows)
        component = _components(left, right)
        sizes = np.bincount(component) if component.size else np.zeros(0, np.int64)
        largest = int(sizes.max(initial=0))
        together = (
            sizes.size >= _MANY * shards and _MANY * shards * largest <= left.size
        )
        shard = shard_of(component if together else right, shards)
        sides = Side.of(left, shard), Side.of(right, shard)
        return Routes(sides, shard, int(sizes.size), largest, together)


def _components(left: IntArray, right: IntArray) -> IntArray:
    """For each relation row, the number that identifies its component."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not left.size:
        return np.zeros(0, np.int64)
    lefts, a = np.unique(left, return_inverse=True)
    rights, b = np.unique(right, return_inverse=True)
    nodes = lefts.size + rights.size
    edges = coo_array((np.ones(a.size, np.int8), (a, lefts.size + b)), (nodes, nodes))
    _, label = connected_components(edges, directed=False)
    found: IntArray = label[a].astype(np.int64)
    return found
