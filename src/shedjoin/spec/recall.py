"""The recall: how much of the exact result was emitted, with its uncertainty."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

EXACT, ESTIMATED, NOTHING_FOUND = 0, 1, 2
OTHER_BUDGET, PREDICATE, FAR_CELLS, LATE_RELATION, UNSTEADY, DROPPED = range(3, 9)
"""Codes of the state of a recall: exact, estimated, and reasons why it is unknown.
If shards have different codes, the greatest code is reported."""
WITHIN = 2.04
"""Half width of a 95 % interval, in standard deviations. It is taken from Student's
distribution, since the variance is estimated from 32 groups of keys."""
MIXED = 0.02
"""If the missing importance is below zero by more than this part of the importance
found, importances of both signs occur. The error of an estimate alone is smaller."""
STATES = {
    EXACT: "exact",
    ESTIMATED: "estimated",
    NOTHING_FOUND: "unknown: nothing was found, and rows that were shed could match",
    OTHER_BUDGET: "unknown: rows that could still match were shed under an earlier "
    "budget, or by a version of shedjoin that counted results differently",
    PREDICATE: "unknown: rows were shed, and a predicate other than Band decides what "
    "they would have matched",
    FAR_CELLS: "unknown: rows were shed, and too few results lie within one cell of "
    "the Band to tell of the others",
    LATE_RELATION: "unknown: relation rows came after rows that they relate, some of "
    "which were shed",
    UNSTEADY: "unknown: rows were shed, and much of the relation changed within the "
    "window",
    DROPPED: "unknown: rows that could still match were dropped by a policy that is "
    "no longer in force",
}
"""Each code in words."""


class Recall(NamedTuple):
    """A recall with its 95 % interval; None where it is not known."""

    value: float | None
    low: float | None
    high: float | None


UNKNOWN = Recall(None, None, None)


def state_code(code: int, measured: float, missed: float) -> int:
    """The code to report. If no result was found or missed, the recall is unknown."""
    if code == ESTIMATED and measured <= 0.0 and missed <= 0.0:
        return NOTHING_FOUND
    return code


def recall_of(
    code: int, measured: float, missed: float, variance: float, *, signed: bool = False
) -> Recall:
    """Recall of results, or of their importance.

    Parameters
    ----------
    code : int
        State of the recall.
    measured : float
        Results that were emitted.
    missed, variance : float
        Estimated number of missing results, and the variance of this estimate.
    signed : bool, default False
        Whether the numbers are importances. If importances have both signs, there is no
        recall.

    Examples
    --------
    >>> recall_of(ESTIMATED, 75.0, 25.0, 0.0)
    Recall(value=0.75, low=0.75, high=0.75)
    >>> recall_of(ESTIMATED, 0.0, 0.0, 0.0)
    Recall(value=None, low=None, high=None)
    >>> recall_of(ESTIMATED, 75.0, -90.0, 1.0, signed=True)
    Recall(value=None, low=None, high=None)
    """
    code = state_code(code, measured, missed)
    if code == EXACT:
        return Recall(1.0, 1.0, 1.0)
    if code != ESTIMATED:
        return UNKNOWN
    off = WITHIN * sqrt(variance)
    if signed and (measured < 0.0 or missed + off < -MIXED * measured):
        return UNKNOWN
    missed = max(missed, 0.0)
    most, least = missed + off, max(missed - off, 0.0)
    return Recall(*(_part(measured, more) for more in (missed, most, least)))


def _part(measured: float, missed: float) -> float:
    return measured / (measured + missed) if measured + missed > 0.0 else 1.0
