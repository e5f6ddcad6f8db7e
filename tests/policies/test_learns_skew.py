"""The default policy on keys that a few dominate, from models that begin empty."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, Within, local
from shedjoin.policies import Expected, Fifo, Policy

BATCHES, ROWS = 24, 1000
START_US = 1_700_000_000_000_000


def stream(side: str, rng: np.random.Generator) -> list[pa.Table]:
    made = []
    for batch in range(BATCHES):
        time = START_US + (batch * ROWS + np.arange(ROWS)) * 1000
        key = (rng.zipf(1.3, ROWS) % 3000).astype(np.int64)
        stamps = pa.array(time, pa.timestamp("us", "UTC"))
        made.append(pa.table({"k": key, f"{side}_time": stamps}))
    return made


def late_matches(policy: Policy, seed: int) -> int:
    """Matches after the first ten of 24 seconds."""
    rng = np.random.default_rng(seed)
    left, right = stream("left", rng), stream("right", rng)
    run = local.join(
        zip(left, right, strict=True),
        on="k",
        within=Within(before="10 seconds", after="10 seconds"),
        time=("left_time", "right_time"),
        budget=Budget(rows=2000),
        keep=policy,
    )
    return sum(batch.report.matched for batch in run.batches[10:])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4, 33])
def test_what_is_learned_early_does_not_mislead_for_good(seed: int) -> None:
    """Levels guessed too high at the start once left it far below Fifo."""
    assert late_matches(Expected(), seed) > 1.5 * late_matches(Fifo(), seed)
