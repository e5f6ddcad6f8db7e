"""RAND-S: a memory that sheds at random."""

from __future__ import annotations

import numpy as np

from shedjoin.lab.offline import Parts, StarArchive
from shedjoin.lab.offline.star_columns import star_columns
from shedjoin.lab.offline.star_matches import star_matches
from shedjoin.lab.offline.star_side import star_side
from shedjoin.types import IntArray


def random_shedding(archive: StarArchive, rows: int, seed: int) -> Parts:
    """What is found if any row leaves that is held or comes, each as likely."""
    rng = np.random.default_rng(seed)
    star = star_columns(archive)
    matches = star_matches(star)
    found = []
    for side in (0, 1):
        own = star_side(star, matches, side, "relation", "shed_then_probe")
        leave = _shed(own.leave, rows // 2, rng)
        found.append(matches.total(own.match[own.match_step < leave[own.match_row]]))
    return Parts(found[0], found[1], matches.total(matches.same))


def _shed(leave: IntArray, capacity: int, rng: np.random.Generator) -> IntArray:
    """Step at which each row leaves; row i comes at step i."""
    leaves, held = leave.copy(), list[int]()
    for step in range(leave.size):
        held = [row for row in held if leave[row] > step] + [step]
        if len(held) > capacity:
            leaves[held.pop(rng.integers(len(held)))] = step
    return leaves
