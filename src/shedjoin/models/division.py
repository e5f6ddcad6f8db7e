"""Divides a budget among shards, by the rows that came to each shard.

Every shard computes the division for itself, and all must get the same result. Sums of
floating-point numbers may differ between machines, so only whole numbers are summed.
Single floating-point numbers are compared, multiplied and rooted. This gives the same
result on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.types import FloatArray, IntArray

_DOUBT = 3.0
"""A difference of more standard deviations than this is not taken for chance."""


def equal_share(budget: int, shard: int, shards: int) -> int:
    """Share of a shard in a budget that is divided equally.

    All shares add up to the budget.

    >>> [equal_share(5, shard, 2) for shard in range(2)]
    [3, 2]
    """
    return budget // shards + (shard < budget % shards)


def by_rows(budgets: Sequence[int], held: IntArray, shards: int) -> IntArray:
    """Divide each budget in proportion to the rows that an exact join would hold.

    ``held`` has these rows, or their bytes, by stream and cell of the census. The cells
    of a shard are adjacent.

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
    """Divide each budget so that the most frequent keys get room first.

    Parameters
    ----------
    budgets : sequence of int
        Budgets in rows or bytes; each is divided independently of the others.
    held : array
        Rows that an exact join would hold, by stream and cell of the census.
    lately : array
        Rows that came in the last window, and in its last part, by stream and cell.
    shards : int
        Number of shards. The cells of a shard are adjacent.
    room : array, optional
        Bytes of the rows held, by stream and cell, if budgets are in bytes.

    Notes
    -----
    The worth of a row is the number of rows with its key that come on the other
    streams. If budgets are in bytes, the worth is divided by the bytes of the row. A
    cell has many rare keys, and possibly a frequent one. If a cell has more rows than
    the median cell, by more than chance, the surplus is taken to be rows of one
    frequent key. When all frequent keys have room, the rest of the budget is divided
    equally, because rare keys are spread evenly.

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
    """Mean bytes of a row, in the cell with the smallest mean."""
    some = held > 0
    return int((room[some] // held[some]).min()) if some.any() else 1


def _estimates(window: IntArray, part: IntArray) -> FloatArray:
    """Rows expected in the next window, by cell, from the last one and its last part.

    If the rate in the last part differs from the rate in the whole window by more than
    chance, the last part is used. A rise is then reduced by one standard deviation, and
    a fall is assumed to go on.
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
    """Product of the rows of a frequent key on all other streams, by cell.

    It is 0 if the cell has no frequent key on these streams. If the key is frequent on
    some of them only, it is taken to have as many rows on the others as the median
    cell.
    """
    middle = np.median(usual, axis=1, keepdims=True) + 1.0
    found: FloatArray = np.prod(beyond + middle, axis=0) * beyond.any(axis=0)
    return found


def _beyond_chance(count: FloatArray) -> FloatArray:
    """Excess of each count over the median count, minus what may be chance."""
    middle = float(np.median(count))
    found: FloatArray = np.maximum(
        count - middle - _DOUBT * np.sqrt(max(middle, 1.0)), 0.0
    )
    return found


def _equal(budget: int, shards: int) -> IntArray:
    return np.array([equal_share(budget, shard, shards) for shard in range(shards)])
