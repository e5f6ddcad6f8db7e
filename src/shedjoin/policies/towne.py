"""Policies of Towne, Zhu, Zuzarte and Hou (CASCON 2007), with and without a relation.

Their random baseline, RAND-S, draws anew at each shed. It is not a policy here: rows of
:class:`~shedjoin.policies.Rand` draw one lot for life. Rule (8) of the paper sheds rows
whose relation rows have all ended. Here it acts once per micro-batch, when the
watermark has passed these ends: a row that comes late could still match.
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
"""Priorities are rounded to ``_DIGITS`` digits. What is added below decides ties."""


@dataclass(frozen=True, slots=True)
class Simp(Policy):
    """Shed the least important row; among equally important rows, the oldest.

    Notes
    -----
    *Source.* SIMP, the static importance heuristic, in [1]_, section 3.2.

    *Symbols.* imp is ``importance``.

    *Departures.* Rule (8) acts with the watermark. ``Greedy`` differs in ties alone.

    *Guarantee.* None: an important row that matches nothing stays until it expires.

    *Cost.* Scored once, O(1) per arrival.

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
        """Worth of each row: its importance."""
        return residents.importance


@dataclass(frozen=True, slots=True)
class SimpProb(Policy):
    """Keep important rows that had many partners when they came.

    Notes
    -----
    *Source.* SIMPPROB, the static importance probability heuristic, in [1]_, section
    3.2.

    *Symbols.* imp is ``importance``, mn is ``partners`` as the row comes.

    *Departures.* The arrivals of an instant count as partners of each other. In large
    blocks of arrivals, as with the default recomputation, partners are the rows before
    the block and those in it. Importance is 1 in a stream that has none.

    *Guarantee.* None: a heuristic. Ties are decided by importance, then partners, then
    age.

    *Cost.* The partners of all residents are counted once per block of arrivals, which
    is about as large as the budget. With ``recompute=Successive()``, the paper's
    setting, they are counted once per arrival or instant.

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
        """Worth of each row: importance times partners, as they were on arrival."""
        return _chained(_first_priority(residents), residents)


@dataclass(frozen=True, slots=True)
class DimpProb(Policy):
    """Keep important rows that have many partners now.

    Notes
    -----
    *Source.* DIMPPROB, the dynamic importance probability heuristic, in [1]_, section
    3.2.

    *Symbols.* imp is ``importance``, mn is ``partners``.

    *Departures.* As for ``SimpProb``. Priorities are computed again once per block of
    arrivals, which is an instant with ``recompute=Successive()``. Rows that rule (8)
    removes in a block still count as partners in that block.

    *Guarantee.* None: a heuristic.

    *Cost.* That of ``SimpProb``.

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
        """Worth of each row: importance times partners."""
        return _chained(_importance(residents) * residents.partners, residents)


@dataclass(frozen=True, slots=True)
class Dgl(Policy):
    """Keep rows that keep finding partners; a row loses worth while it finds none.

    Parameters
    ----------
    alpha : float, optional
        What gains are divided by. By default the window in units of time, the paper's
        m. With large values gains count little.
    beta : float, default 1.0
        What a row loses per unit of time without a match.
    unit : duration, default "1 second"
        The unit of time, the paper's instant.

    Notes
    -----
    *Source.* DGL, the dynamic gain loss heuristic, in [1]_, section 3.2.

    *Symbols.* imp is ``importance``, mn is ``partners``, expr - t is ``remaining_us``
    plus one unit, P' is ``last_score``. A row produces an output if ``produced`` is not
    0.

    *Departures.* As for ``SimpProb``. If a block of arrivals is longer than a unit, a
    row that matches in it gains once, and a row that does not loses for all the time
    that has passed. Priorities are rounded to six digits after the point. With a window
    shorter than four instants, the clock may be ahead by a fraction of an instant. That
    can keep a pair more than the paper does.

    *Guarantee.* None: a heuristic, the best of the paper's on average.

    *Cost.* That of ``SimpProb``.

    References
    ----------
    .. [1] K. Towne, Q. Zhu, C. Zuzarte, W.-C. Hou, "Window Query Processing for Joining
       Data Streams with Relations", CASCON 2007.

    Examples
    --------
    A row of importance 2 that was worth 6 finds one of its 4 partners now and has 5
    seconds left: with alpha 12 it gains 2 * 4 * 6 / 12. The other row loses 1 per
    second.

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
                f"Dgl(alpha={self.alpha!r}) is not a number that gains can be divided "
                "by.",
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
        """Worth of each row: gains less losses."""
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
    """Importance, or 1 on a side that has none."""
    return np.where(np.isinf(residents.importance), 1.0, residents.importance)


def _first_priority(residents: Residents) -> FloatArray:
    """Last priorities of residents; of arrivals, importance times partners."""
    fresh = _importance(residents) * residents.partners
    last = residents.last_score.round(_DIGITS)
    return np.where(np.isnan(last), fresh, last)


def _chained(priority: FloatArray, residents: Residents) -> FloatArray:
    """Scores in the order of priority, then importance, then partners."""
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
