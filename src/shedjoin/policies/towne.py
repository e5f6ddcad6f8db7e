"""Policies of Towne, Zhu, Zuzarte and Hou (CASCON 2007), with and without a relation.

There is no policy for their random baseline, RAND-S, which chooses a random row at each
shed. With :class:`~shedjoin.policies.Rand`, a row keeps the lot that it gets on
arrival. Rule (8) of the paper drops rows whose relation rows have all ended. Here the
rule is applied once per micro-batch, when the watermark has passed these ends, because
an arrival that is out of order could still match such a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.policies.base import Policy
from shedjoin.policies.residents import Residents
from shedjoin.spec.window import Duration, parse_duration
from shedjoin.types import FloatArray

_DIGITS = 6
_NUDGE = 0.4 * 10.0**-_DIGITS
"""Priorities are rounded to ``_DIGITS`` digits. To decide ties, numbers below
``_NUDGE`` are added."""


@dataclass(frozen=True, slots=True)
class Simp(Policy):
    """Shed the least important row; among equally important rows, the oldest.

    Notes
    -----
    *Source.* SIMP, the static importance heuristic, in [1]_, section 3.2.

    *Symbols.* imp is ``importance``.

    *Departures.* Rule (8) follows the watermark. ``Greedy`` differs only in ties.

    *Guarantee.* None. An important row stays until it expires, even without matches.

    *Cost.* Each row is scored once, in O(1).

    References
    ----------
    .. [1] K. Towne, Q. Zhu, C. Zuzarte, W.-C. Hou, "Window Query Processing for Joining
       Data Streams with Relations", CASCON 2007.

    Examples
    --------
    >>> from shedjoin.policies import Residents
    >>> rows = Residents.example(time=[5, 3], now_us=9, importance=[2.0, 7.0])
    >>> Simp().score(rows).tolist()
    [2.0, 7.0]
    """

    def score(self, residents: Residents) -> FloatArray:
        """Score of each row: its importance."""
        return residents.importance


@dataclass(frozen=True, slots=True)
class SimpProb(Policy):
    """Keep important rows that had many partners when they came.

    Notes
    -----
    *Source.* SIMPPROB, the static importance probability heuristic, in [1]_, section
    3.2.

    *Symbols.* imp is ``importance``, and mn is ``partners`` when the row comes.

    *Departures.* The arrivals of an instant count as partners of each other. With the
    default recomputation, blocks of arrivals are large. The partners of a row are then
    residents from before the block, and arrivals of the whole block. Rows of a stream
    without importance have importance 1.

    *Guarantee.* None, since it is a heuristic. Ties are decided by importance, then
    partners, then age.

    *Cost.* The partners of all residents are counted once per block of arrivals. A
    block has up to an eighth of the rows of a window, or 512 rows. With the paper's
    setting, ``recompute=Successive()``, partners are counted once per arrival or
    instant.

    References
    ----------
    .. [1] K. Towne, Q. Zhu, C. Zuzarte, W.-C. Hou, "Window Query Processing for Joining
       Data Streams with Relations", CASCON 2007.

    Examples
    --------
    >>> from shedjoin.policies import Residents
    >>> rows = Residents.example(
    ...     time=[5, 9], now_us=9, importance=[2.0, 7.0], partners=[4.0, 1.0],
    ...     last_score=[6.0, float("nan")],
    ... )
    >>> SimpProb().score(rows).round(6).tolist()
    [6.0, 7.0]
    """

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("partners",)

    def score(self, residents: Residents) -> FloatArray:
        """Score of each row: its importance times its partners on arrival."""
        return _chained(_first_priority(residents), residents)


@dataclass(frozen=True, slots=True)
class DimpProb(Policy):
    """Keep important rows that have many partners now.

    Notes
    -----
    *Source.* DIMPPROB, the dynamic importance probability heuristic, in [1]_, section
    3.2.

    *Symbols.* imp is ``importance``, and mn is ``partners``.

    *Departures.* As for ``SimpProb``. Priorities are computed again once per block of
    arrivals. With ``recompute=Successive()``, a block is an instant. Rows that rule (8)
    removes during a block still count as partners in this block.

    *Guarantee.* None, since it is a heuristic.

    *Cost.* As for ``SimpProb``.

    References
    ----------
    .. [1] K. Towne, Q. Zhu, C. Zuzarte, W.-C. Hou, "Window Query Processing for Joining
       Data Streams with Relations", CASCON 2007.

    Examples
    --------
    >>> from shedjoin.policies import Residents
    >>> rows = Residents.example(
    ...     time=[5, 9], now_us=9, importance=[2.0, 7.0], partners=[4.0, 1.0],
    ...     last_score=[6.0, float("nan")],
    ... )
    >>> DimpProb().score(rows).round(6).tolist()
    [8.0, 7.0]
    """

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("partners",)

    def score(self, residents: Residents) -> FloatArray:
        """Score of each row: its importance times its present partners."""
        return _chained(_importance(residents) * residents.partners, residents)


@dataclass(frozen=True, slots=True)
class Dgl(Policy):
    """Keep rows that match again and again: each match raises the score of a row.

    The score falls while the row has no matches.

    Parameters
    ----------
    alpha : float, optional
        The number by which gains are divided. The default is the window in units of
        time, which is the paper's m. With large values, gains count little.
    beta : float, default 1.0
        How much the score of a row falls per unit of time without a match.
    unit : duration, default "1 second"
        The unit of time: the paper's instant.

    Notes
    -----
    *Source.* DGL, the dynamic gain loss heuristic, in [1]_, section 3.2.

    *Symbols.* imp is ``importance``, mn is ``partners``, expr - t is ``remaining_us``
    plus one unit, and P' is ``last_score``. A row produces an output if ``produced`` is
    not 0.

    *Departures.* As for ``SimpProb``. If a block of arrivals spans more than a unit of
    time, a row that matches in the block gains only once. A row that does not match
    loses for all the time that has passed. Priorities are rounded to six digits after
    the point. If the window is shorter than four instants, the clock may be ahead by a
    fraction of an instant. Then one pair more may be kept than in the paper.

    *Guarantee.* None, since it is a heuristic. On average, it is the best of those in
    the paper.

    *Cost.* As for ``SimpProb``.

    References
    ----------
    .. [1] K. Towne, Q. Zhu, C. Zuzarte, W.-C. Hou, "Window Query Processing for Joining
       Data Streams with Relations", CASCON 2007.

    Examples
    --------
    The first row has importance 2, the last score 6, and 4 partners, one of which is an
    arrival of this block. It has 5 seconds left. With alpha 12, its score rises by
    2 * 4 * (5 + 1) / 12 = 4. The second row has no new partner. Its score falls by 1
    per second.

    >>> from shedjoin.policies import Residents
    >>> rows = Residents.example(
    ...     time=[0, 0], now_us=5_000_000, importance=[2.0, 7.0], partners=[4.0, 1.0],
    ...     produced=[1.0, 0.0], last_score=[6.0, 3.0],
    ... )
    >>> Dgl(alpha=12).score(rows).round(6).tolist()
    [10.0, 2.0]
    >>> Dgl(beta=-1)
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Dgl(beta=-1) is not a finite loss.
    Fix: pass 0 for none, or a number such as 1.0.
    """

    alpha: float | None = None
    beta: float = 1.0
    unit: Duration = "1 second"

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("partners",)

    def __post_init__(self) -> None:
        if self.alpha is not None and not 0.0 < _number(self.alpha) < np.inf:
            raise ParameterError(
                f"Dgl(alpha={self.alpha!r}) is not a finite number above 0.",
                fix="pass alpha=50.0, or leave it out.",
            )
        if not 0.0 <= _number(self.beta) < np.inf:
            raise ParameterError(
                f"Dgl(beta={self.beta!r}) is not a finite loss.",
                fix="pass 0 for none, or a number such as 1.0.",
            )
        if parse_duration(self.unit) < 1:
            raise ParameterError(
                f"Dgl(unit={self.unit!r}) is not a length of time.",
                fix='pass unit="1 second".',
            )

    def score(self, residents: Residents) -> FloatArray:
        """Score of each row: its last score plus its gain, or minus its loss."""
        unit = parse_duration(self.unit)
        before = _first_priority(residents)
        left = residents.remaining_us.clip(0) / unit + 1.0
        keep_us = np.array(residents.keep_us)[residents.stream]
        # Retention is negative if the window ends before the row.
        whole = np.maximum(keep_us, 0) / unit + 1.0
        alpha = whole if self.alpha is None else self.alpha
        gain = _importance(residents) * residents.partners * left / alpha
        loss = self.beta * residents.waited_us / unit
        known = ~np.isnan(residents.last_score)
        change = np.where(residents.produced > 0, gain, -loss)
        return _chained((before + known * change).clip(0.0), residents)


def _number(given: object) -> float:
    """The number that is given, or NaN for anything else."""
    return float(given) if isinstance(given, int | float) else np.nan


def _importance(residents: Residents) -> FloatArray:
    """Importance of each row; 1 in a stream without importance."""
    return np.where(np.isinf(residents.importance), 1.0, residents.importance)


def _first_priority(residents: Residents) -> FloatArray:
    """Priority of each row before the present block is taken into account.

    For a resident, this is its last score. For an arrival, it is its importance times
    its partners.
    """
    fresh = _importance(residents) * residents.partners
    last = residents.last_score.round(_DIGITS)
    return np.where(np.isnan(last), fresh, last)


def _chained(priority: FloatArray, residents: Residents) -> FloatArray:
    """Scores that order rows by priority, then importance, then partners."""
    if not priority.size:
        return priority
    priority = priority.round(_DIGITS) + 0.0
    chain = priority, _importance(residents), residents.partners
    order = np.lexsort(chain[::-1])
    differs = np.zeros((len(chain), order.size), np.bool_)
    for row, column in zip(differs, chain, strict=True):
        row[1:] = column[order][1:] != column[order][:-1]
    rank = np.cumsum(differs.any(axis=0))
    start = np.maximum.accumulate(np.where(differs[0], rank, 0))
    score = np.empty(priority.size)
    score[order] = priority[order] + _NUDGE * (rank - start) / (rank[-1] + 1)
    return score
