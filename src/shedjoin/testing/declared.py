"""Invariants of the declarations of a policy, on which the join relies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches

import numpy as np

from shedjoin.operators.frame import answers
from shedjoin.policies.base import Policy, SamplingPolicy
from shedjoin.policies.residents import Met, Residents
from shedjoin.testing.invariant import Trials
from shedjoin.testing.shown import shown
from shedjoin.types import FloatArray

_LATER_US = 5_000_000
_SAY_SO = "Write dynamic: ClassVar[bool] = True in the class"


def unsaid(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for scores that change without a declaration, and for verbs never called.

    If a policy is not dynamic, the score of a row is computed once, on arrival. The
    score may depend on the models at that time, but not on age and matches, which
    change later.
    """
    yield from _misspelt(policy)
    for seed in trials.seeds:
        rows = shown(policy, seed)
        for verb in ("score", "first_score"):
            _scores(policy, verb, rows)  # raises if there is a NaN among them
        if not policy.dynamic:
            yield from _changes(policy, rows, f"(seed={seed})")
        if isinstance(policy, SamplingPolicy):
            yield from _unasked(policy, rows)


def _misspelt(policy: Policy) -> Iterator[str]:
    known = [name for name in dir(SamplingPolicy) if not name.startswith("_")]
    for name, own in vars(type(policy)).items():
        like = get_close_matches(name, known, 1, 0.8)
        if like and name not in known and callable(own):
            yield f"the library never calls {name}. Is it meant to be {like[0]}?"


def _changes(policy: Policy, rows: Residents, where: str) -> Iterator[str]:
    score = _scores(policy, "score", rows)
    for what, other in _later(rows):
        if not np.array_equal(score, _scores(policy, "score", other)):
            yield (
                f"its scores change with {what}, but they are computed on arrival "
                f"alone, when age and matches are 0 {where}. {_SAY_SO} if they "
                "are to be computed again; a row keeps its time, but its age "
                "changes"
            )
    if not np.array_equal(score, _scores(policy, "first_score", rows)):
        yield (
            f"score and first_score give different scores, but score is never called "
            f"{where}. {_SAY_SO}, or write score alone"
        )


def _later(rows: Residents) -> Iterator[tuple[str, Residents]]:
    yield "time", replace(rows, now_us=rows.now_us + _LATER_US)
    if rows.met is not None:
        more = Met(rows.met.matches + rows.number, rows.met.last_match + rows.number)
        yield "matches", replace(rows, met=more)


def _unasked(policy: SamplingPolicy, rows: Residents) -> Iterator[str]:
    if not policy.thins and policy.thin(rows) is not None:
        yield "thin is never called. Write thins: ClassVar[bool] = True in the class"
    if not policy.tosses and policy.coins(rows) is not None:
        yield "coins is never called. Write tosses: ClassVar[bool] = True in the class"


def _scores(policy: Policy, verb: str, rows: Residents) -> FloatArray:
    given = getattr(policy, verb)(rows)
    return answers.scores(policy, verb, given, rows.key.size)
