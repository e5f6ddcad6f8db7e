"""Checks whether a query can continue with the residents of a stored sample."""

from __future__ import annotations

from typing import Any

from shedjoin.errors import StateMismatchError
from shedjoin.policies.base import SamplingPolicy
from shedjoin.spec.shedding import Shedding


def check_sample(stored: dict[str, Any] | None, shedding: Shedding) -> None:
    """Raise if the stored residents were not drawn as this query draws its sample.

    Otherwise, it would be unknown with which probabilities these residents were kept.
    """
    wanted = drawn_by(shedding)
    if wanted is not None and stored != wanted:
        raise StateMismatchError(
            f"the checkpoint holds {_described(stored)}; this query wants "
            f"{_described(wanted)}.",
            fix="start with a new checkpointLocation, or restore the old keep= and "
            "the old split.",
        )


def drawn_by(shedding: Shedding) -> dict[str, Any] | None:
    """How a sample is drawn, or None if the policy does not sample."""
    policy = shedding.policy
    if not isinstance(policy, SamplingPolicy):
        return None
    asked = {"thin": policy.thins, "coins": policy.tosses}
    return {
        "seed": shedding.coin_seed,
        "coins": [verb for verb, is_asked in asked.items() if is_asked],
        "pooled": shedding.budget.split is None,
    }


def _described(sample: dict[str, Any] | None) -> str:
    if sample is None:
        return "rows without weights"
    coins = "lots and coins" if sample["coins"] else "lots"
    split = "no split" if sample["pooled"] else "a split"
    return f"a sample by {coins} with seed {sample['seed']} and {split}"
