"""A shed before the first fill of a micro-batch takes the lowest, not the newest."""

from __future__ import annotations

from shedjoin import Every
from shedjoin.policies import IJoin

from .streams import pairs, random_arrivals, run


def test_micro_batches_without_a_recomputation() -> None:
    """Scores are due once: then only the order in which rows leave is left."""
    instants = random_arrivals(7, instants=120)
    whole, cut = (
        run(
            instants,
            IJoin(maturity="1 second"),
            8,
            window=1000,
            recompute=Every(100_000),
            per_batch=per_batch,
        )
        for per_batch in (120, 2)
    )
    assert pairs(whole) == pairs(cut)
    assert whole.report.refused == cut.report.refused
