"""What shedding by value is worth against flipping coins, for the same work.

Setting: the operator without Spark, which goes by counts and would do the same there;
Zipf keys with exponent 1, as frequent on both streams, the other way round, or mixed
up; the share of the work and the costs that a burst came to.
"""

from __future__ import annotations

from benchmarks.console import note
from experiments.cpu_limited.correlations import KINDS, rates
from experiments.cpu_limited.runs import run
from shedjoin.lab.plan import Costs
from shedjoin.policies import CoinFlip, ValuePni


def gains(share: float, costs: Costs, *, windows: int, seed: int) -> dict[str, float]:
    """Results of ValuePni over those of CoinFlip, and its work over what is allowed."""
    found = {}
    for kind in KINDS:
        note(f"by value against coins, frequencies {kind}")
        setting = rates(kind)._replace(costs=costs)
        whole, coins, ours = (
            run(setting, policy, share, windows=windows, seed=seed)
            for policy in (None, CoinFlip(), ValuePni())
        )
        found[f"gain_{kind}"] = ours.results / coins.results
        found[f"work_{kind}"] = ours.work / (share * whole.work)
    return {"gain": found["gain_inverse"]} | found
