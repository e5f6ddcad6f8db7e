"""Divides a budget over shards, by the rows that came to them.

Every shard computes the division for itself, and all must get the same result. So only
whole numbers are summed. Floating-point numbers are compared, multiplied and rooted one
by one, which gives the same result on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.types import FloatArray, IntArray

_DOUBT = 3.0
"""Standard deviations beyond which a difference is not taken for chance."""


def equal_share(budget: int, shard: int, shards: int) -> int:
    """Size of one of the equal shares of a budget; the shares add up to it.

    >>> [equal_share(5, shard, 2) for shard in range(2)]
    [3, 2]
    """
    return budget // shards + (shard < budget % shards)


def by_rows(budgets: Sequence[int], held: IntArray, shards: int) -> IntArray:
    """Divide each budget in proportion to what an exact join would hold.

    ``held`` is in rows or bytes, by stream and cell. Cells of a shard are adjacent.

    >>> by_rows([10], np.array([[6, 0, 1, 1]]), 2).tolist()
    [[7, 3]]
    """
    rows = held.sum(axis=0).reshape(shards, -1).sum(axis=1)
    total = int(rows.sum())
    if not total:
        return np.array([_equal(budget, shards) for budget in budgets])
    reached = np.cumsum(rows).tolist()
    ends = [[budget * end // total for end in reached] for budget in budgets]
    return np.diff(np.array(ends), prepend=0)


def by_keys(
    budgets: Sequence[int],
    held: IntArray,
    lately: IntArray,
    shards: int,
    room: IntArray | None = None,
) -> IntArray:
    """Divide each budget so that frequent keys get room first, by frequency.

    Parameters
    ----------
    budgets : sequence of int
        Budgets in rows or bytes; each is divided independently of the others.
    held : array
        Rows that an exact join would hold, by stream and cell.
    lately : array
        Rows that came in the last window, and in its last part, by stream and cell.
    shards : int
        Number of shards; cells of a shard are adjacent.
    room : array, optional
        Bytes of the rows held, by stream and cell, if budgets are in bytes.

    Notes
    -----
    A row is worth as many results as rows of its key come on the other streams. If
    budgets are in bytes, that is divided by the bytes of the row. A cell has many rare
    keys, and it may have a frequent one. If it has more rows than the median cell, by
    more than chance, then the surplus is taken to be rows of one frequent key. When all
    frequent keys have room, the rest of the budget is divided equally, because rare
    keys are spread evenly.

    Examples
    --------
    >>> came = np.array([[900, 0, 1, 2, 0, 1], [90, 2, 0, 1, 1, 0]])
    >>> by_keys([1000, 9], came, np.stack([came, came]), shards=3).tolist()
    [[992, 4, 4], [9, 0, 0]]
    """
    streams = held.shape[0]
    usual = np.array([_estimates(*lately[:, stream]) for stream in range(streams)])
    beyond = np.array([_beyond_chance(each) for each in usual])
    others = (np.arange(streams) != stream for stream in range(streams))
    value = np.concatenate([_partners(usual[own], beyond[own]) for own in others])
    rows = _beyond_middle(held)
    if room is None:
        needs = rows
    else:
        needs = np.maximum(_beyond_middle(room), rows * _least(held, room))
        value = value * rows / np.maximum(needs, 1)
    frequent = np.flatnonzero((value > 0.0) & (rows > 0))
    order = frequent[np.argsort(-value[frequent], kind="stable")]
    filled = np.cumsum(needs[order])
    shard = (order % held.shape[1]) // (held.shape[1] // shards)
    found = []
    for budget in budgets:
        given = np.diff(np.minimum(filled, budget), prepend=0)
        share = np.zeros(shards, np.int64)
        np.add.at(share, shard, given)
        found.append(share + _equal(budget - int(share.sum()), shards))
    return np.array(found)


def _beyond_middle(held: IntArray) -> IntArray:
    """Excess of each cell over the median cell of its stream, flattened."""
    middle = np.median(held, axis=1).astype(np.int64)
    beyond: IntArray = np.maximum(held - middle[:, None], 0).ravel()
    return beyond


def _least(held: IntArray, room: IntArray) -> int:
    """Bytes of a row in the cell with the smallest rows."""
    some = held > 0
    return int((room[some] // held[some]).min()) if some.any() else 1


def _estimates(window: IntArray, part: IntArray) -> FloatArray:
    """Rows expected in the next window, by cell, from the last one and its last part.

    The last part of the window is used if it differs from the whole by more than
    chance. A rise is reduced by one standard deviation, and a fall is assumed to go on.
    """
    all_of_it, all_of_part = int(window.sum()), int(part.sum())
    steady: FloatArray = window.astype(np.float64)
    if not all_of_part or all_of_it == all_of_part:
        return steady
    expected = steady * (all_of_part / all_of_it)
    longer = all_of_it / all_of_part
    rise = (part - np.sqrt(part)) * longer
    fall = part * longer * (part / np.maximum(expected, 1e-9))
    differs = np.abs(part - expected) > _DOUBT * np.sqrt(expected + 1.0)
    return np.where(differs, np.where(part > expected, rise, fall), steady)


def _partners(usual: FloatArray, beyond: FloatArray) -> FloatArray:
    """Partners of a frequent key on all other streams, by cell; 0 if a cell has none.

    On a stream where the key is not frequent, it has as many rows as the median cell.
    """
    middle = np.median(usual, axis=1, keepdims=True) + 1.0
    found: FloatArray = np.prod(beyond + middle, axis=0) * beyond.any(axis=0)
    return found


def _beyond_chance(count: FloatArray) -> FloatArray:
    """By how much each count exceeds the median count, less what may be chance."""
    middle = float(np.median(count))
    found: FloatArray = np.maximum(
        count - middle - _DOUBT * np.sqrt(max(middle, 1.0)), 0.0
    )
    return found


def _equal(budget: int, shards: int) -> IntArray:
    return np.array([equal_share(budget, shard, shards) for shard in range(shards)])
