"""Basic windows that a harvest needs: the list of the paper, literally."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.lab.plan import (
    HarvestLoad,
    flat_scores,
    greedy_harvest,
    kept_windows,
    predicted_harvest,
    selected_windows,
    whole_harvest,
)

from .harvests import anything


def listed(
    load: HarvestLoad, counts: tuple[tuple[int, ...], ...]
) -> set[tuple[int, int]]:
    """Stream and number, from 1, of each basic window that section 7 lets drop."""
    windows = {
        stream: len(ranked)
        for order, direction in zip(load.orders, load.directions, strict=True)
        for stream, ranked in zip(order, direction.ranked, strict=True)
    }
    ranks = [
        (stream, direction.ranked[v][k] + 1)
        for u, direction in enumerate(load.directions)
        for v, stream in enumerate(load.orders[u])
        for k in range(counts[u][v])
    ]
    return {
        (i, j)
        for i, count in windows.items()
        for j in range(1, count + 1)
        if not any(stream == i and number >= j for stream, number in ranks)
    }


@pytest.mark.parametrize("share", [0.02, 0.2, 0.6, 1.0])
def test_what_is_not_kept_is_the_list_of_the_paper(
    rng: np.random.Generator, share: float
) -> None:
    for _ in range(50):
        load = anything(rng, int(rng.integers(2, 5)), 6)
        found = greedy_harvest(share * load.work, load)
        kept = kept_windows(load, found)
        dropped = listed(load, found.counts)
        for stream, count in enumerate(kept):
            whole = max(j for i, j in all_windows(load) if i == stream)
            assert {j for i, j in dropped if i == stream} == {
                *range(count + 1, whole + 1)
            }


def all_windows(load: HarvestLoad) -> set[tuple[int, int]]:
    return listed(load, tuple((0,) * len(order) for order in load.orders))


def test_a_window_before_a_selected_one_is_needed() -> None:
    first, *others = flat_scores([5, 5, 5])
    later = np.array([0.1, 0.1, 0.3, 0.4, 0.1])
    scores = [[*first[:2], later], *others]
    load = HarvestLoad(
        [1] * 3, [5] * 3, [[2, 1], [0, 2], [0, 1]], [[1] * 3] * 3, scores
    )
    found = predicted_harvest(load, [[2, 1], [0, 0], [0, 0]])
    assert selected_windows(load, found)[0][0] == (2, 3)
    assert kept_windows(load, found) == (0, 1, 4)


def test_the_whole_join_needs_all() -> None:
    load = HarvestLoad([1, 1], [2, 4], [[1], [0]], [[1, 1]] * 2, flat_scores([2, 4]))
    assert kept_windows(load, whole_harvest(load)) == (2, 4)
