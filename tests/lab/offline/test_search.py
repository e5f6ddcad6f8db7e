"""A search in pieces finds what the whole finds, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.lab.kernels.memory_states import Gains
from shedjoin.lab.offline.memory_states import cuts
from shedjoin.lab.offline.search import Search, joined
from shedjoin.types import IntArray


def drawn(rng: np.random.Generator, rows: int, span: int) -> Search:
    """Rows some of which stay for long; weights are real, so that sums are rounded."""
    stay = rng.integers(1, span, rows)
    leave = np.minimum(np.arange(rows) + stay, rows)
    each = [
        np.sort(rng.choice(np.arange(row, end), min(3, end - row), replace=False))
        for row, end in enumerate(leave.tolist())
    ]
    for row, steps in enumerate(each):
        steps[-1] = leave[row] - 1
    start = np.cumsum([0, *map(len, each)])
    gains = Gains(start, np.concatenate(each), rng.random(start[-1]))
    return Search(leave, gains, int(rng.integers(1, 4)), ranked=True)


def is_cut(leave: IntArray, step: int) -> bool:
    return bool((leave[:step] <= step).all())


@pytest.mark.parametrize("seed", range(40))
def test_pieces_find_what_the_whole_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    search = drawn(rng, int(rng.integers(1, 200)), int(rng.integers(2, 6)))
    whole = search.leaves()
    for rows in (1, 7, 50, 1000):
        pieces = search.pieces(rows)
        assert all(piece.leave.size >= rows for piece in pieces[:-1])
        assert joined([piece.leaves() for piece in pieces]).tolist() == whole.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_cuts_are_where_nobody_stays(seed: int) -> None:
    search = drawn(np.random.default_rng(seed), 60, 4)
    expected = [step for step in range(60) if is_cut(search.leave, step)]
    assert cuts(search.leave) == expected
    assert len(search.pieces(1)) == len(expected) > 2


def test_no_rows_have_no_pieces() -> None:
    none = np.zeros(0, np.int64)
    search = Search(none, Gains(np.zeros(1, np.int64), none, np.zeros(0)), 2, True)
    assert search.pieces(10) == []
    assert joined([]).tolist() == search.leaves().tolist() == []
