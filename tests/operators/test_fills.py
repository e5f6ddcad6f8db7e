"""How often candidates are looked for: a fill costs as much as there are residents."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, Within, local
from shedjoin.kernels.candidates import Candidates
from shedjoin.operators.budgeted.fill import Filler
from shedjoin.policies import Fifo, Policy, Rand, Recent

ROWS = 8_000
MINUTE = Within(before="1 minute", after="1 minute")


def stream(name: str, seed: int) -> pa.Table:
    key = np.random.default_rng(seed).integers(0, 500, ROWS)
    time = pa.array(10_000 * (1 + np.arange(ROWS)), pa.timestamp("us", "UTC"))
    return pa.table({"k": key, name: time})


@pytest.mark.parametrize("policy", [Fifo(), Recent(), Rand()], ids=str)
def test_a_stream_that_gets_nothing_of_the_budget(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its arrivals is shed at once; there is no fill for each."""
    fills, fill = [], Filler.fill

    def counted(filler: Filler) -> Candidates:
        fills.append(filler)
        return fill(filler)

    monkeypatch.setattr(Filler, "fill", counted)
    run = local.join(
        [(stream("a", 1), stream("b", 2))],
        on="k",
        within=MINUTE,
        time=("a", "b"),
        budget=Budget(rows=400, split=1.0),
        keep=policy,
    )
    assert run.report.resident == (400, 0)
    assert 0 < len(fills) < ROWS // 50
