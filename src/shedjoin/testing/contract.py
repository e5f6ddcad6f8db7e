"""All invariants of policies, and the call that checks them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from shedjoin.policies.base import Policy
from shedjoin.testing.declared import unsaid
from shedjoin.testing.invariant import Invariant, Parameters, Trials
from shedjoin.testing.repeats import batchwise, forgetful, unrepeatable
from shedjoin.testing.results import (
    inexact,
    invented,
    miscounted,
    over_budget,
    worse_with_more,
)
from shedjoin.testing.values import meddling, undefended, unwritable
from shedjoin.testing.weights import misweighed

CHECKS = {
    "budget": Invariant(1, "never more than the budget", over_budget),
    "subset": Invariant(
        2, "results are some of the exact join's, with weights of 1 or more", invented
    ),
    "unlimited": Invariant(
        3,
        "all results if there is room for all rows",
        inexact,
        hint="admit, probe or retain turn rows away though nothing presses; leave it "
        "to score who has to go.",
    ),
    "repeatable": Invariant(
        4,
        "same input, same output",
        unrepeatable,
        hint="a verb draws random numbers, reads a clock of its own, or remembers "
        "earlier calls; draw numbers from key and number with "
        "shedjoin.sampling.lots.lots, and take the time from now_us.",
    ),
    "restart": Invariant(
        5,
        "storing and loading changes nothing",
        forgetful,
        hint="a verb remembers earlier calls; after a restart the policy is a new one.",
    ),
    "batches": Invariant(
        6,
        "one batch of n is n batches of one",
        batchwise,
        hint="a score depends on the other rows that are judged with it, as a rank "
        "or a random generator does, or on now_us without dynamic.",
    ),
    "inputs": Invariant(
        7, "inputs stay as they are", meddling, hint="copy an array, then change it."
    ),
    "counts": Invariant(8, "reported counts add up", miscounted),
    "text": Invariant(
        9,
        "repr and a pickle under 1 kB give it back",
        unwritable,
        hint="a policy is a frozen dataclass with slots, at the top of a module, whose "
        "fields are few and plain values: it goes to every task.",
    ),
    "domain": Invariant(
        10,
        "values outside the domain are refused",
        undefended,
        hint="check the fields in __post_init__, and raise "
        "shedjoin.errors.ParameterError(problem, fix=...).",
    ),
    "declared": Invariant(11, "what changes and what is asked is said", unsaid),
    "recall": Invariant(
        12, "a larger budget, not a lower recall", worse_with_more, slow=True
    ),
    "weights": Invariant(
        13,
        "weights of a sample add up to the exact results",
        misweighed,
        slow=True,
        hint="inclusion is not the probability with which a row of this score is above "
        "the bar; see shedjoin.policies.EqCluster.",
    ),
}
"""Invariants by name; call one with a policy and :class:`Trials`."""


def check_policy(
    policy: Policy,
    *,
    streams: int = 5,
    seed: int = 0,
    good: Sequence[Parameters] = (),
    bad: Sequence[Parameters] = (),
) -> None:
    """Check that a policy does what a join expects of it.

    This takes about 20 seconds, or longer if kernels are not compiled yet. The
    invariant that is being checked is written to stderr.

    Parameters
    ----------
    policy : Policy
        The policy. It may be one that you have written.
    streams : int, default 5
        Number of random streams for each invariant. The invariant of the recall uses at
        least 30, and that of the weights 40. Invariants that compare results with the
        exact join also use up to three streams with tens of thousands of rows.
    seed : int, default 0
        Seed of the first stream. The next stream has the next seed.
    good, bad : sequence of mappings
        Keyword arguments at the edges of the policy's domain, and outside of it. A
        policy may also name them in class variables ``good_parameters`` and
        ``bad_parameters``.

    Raises
    ------
    AssertionError
        The policy breaks an invariant. The message says which one, on which stream, and
        what the cause may be.
    ParameterError
        A verb does not return one number for each row, or reads something that the
        policy does not name in ``reads``.

    Examples
    --------
    >>> from shedjoin.policies import Rand
    >>> from shedjoin.testing import check_policy
    >>> check_policy(Rand(seed=3), streams=2, bad=[{"seed": -1}, {"seed": 0.5}])
    """
    trials = Trials(streams, seed, good, bad)
    for number, invariant in enumerate(CHECKS.values(), start=1):
        sys.stderr.write(f"{number:2}/{len(CHECKS)} {invariant.says}\n")
        sys.stderr.flush()
        invariant(policy, trials)
