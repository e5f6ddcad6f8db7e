"""Policies of Kulkarni and Ravishankar (SSDBM 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.policies.base import Pace, Policy
from shedjoin.policies.residents import Residents
from shedjoin.spec.window import Duration, parse_duration
from shedjoin.types import FloatArray


@dataclass(frozen=True, slots=True)
class Size(Policy):
    """Keep the rows that have matched most often.

    Notes
    -----
    *Source.* SIZE in [1]_, sections 1.1 and 5, after Das, Gehrke and Riedewald.

    *Symbols.* matches is ``matches``.

    *Departures.* The paper does not define the rule. Here the score is the number of
    matches so far, with those of this instant. Among equal rows, the oldest is shed.
    That gives the outputs of the paper's Table 3(b) and its fairness for all window
    sizes; no rule gives the printed buffers. To reproduce them, use
    ``Options(discipline="shed_then_join", recompute=Successive())``.

    *Guarantee.* None: a heuristic.

    *Cost.* O(1) amortised per arrival with the default recomputation.

    References
    ----------
    .. [1] D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join
       Approximation over Data Streams", SSDBM 2008.

    Examples
    --------
    >>> from shedjoin.policies import Residents
    >>> rows = Residents.example(time=[5, 3], now_us=9, matches=[2.0, 0.0])
    >>> Size().score(rows).tolist()
    [2.0, 0.0]
    """

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("matches",)

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: its matches."""
        return residents.matches


@dataclass(frozen=True, slots=True)
class IJoin(Policy):
    """Keep important rows that keep matching, after a grace period for each row.

    A row is worth its importance times its matches per unit of age. Young rows are
    spared. A row that has not matched for a while loses worth.

    Parameters
    ----------
    maturity : duration, default "2 seconds"
        Rows up to this age are not shed while there is an older row to shed.
    patience : duration, default "3 seconds"
        A row without a match for this long is unproductive.
    penalty : float, default 1.0
        What an unproductive row loses per unit of time since its last match. Small
        values favour importance, large values fairness.
    decay : float, default 0.1
        How fast past matches fade, per unit of time; 0 counts all alike (the paper's
        global matches).
    unit : duration, default "1 second"
        The unit of time in which ages, penalty and decay are measured.
    foresight : bool, default True
        Whether matches of an instant count before rows are shed in it.

    Notes
    -----
    *Source.* Section 4 of [1]_: equations 5 to 8, Algorithms 1 and 2.

    *Symbols.* RP is the score, tau ``maturity``, Delta ``patience``, c ``penalty``,
    d ``decay``, imp ``importance``, prevmatch ``last_match``.

    *Departures.* RP of an arrival is its importance (RP_init is left open), and its
    last match is its arrival. Among rows with equal scores, the oldest is shed. If no
    row is mature, the arrival is refused. If the maturity is longer than it takes a
    full buffer to arrive, the buffer therefore does not change until rows mature. With
    ``foresight``, matches of an instant count before rows are shed: under this reading
    the paper's order of schemes comes out on drifting data. For the paper's setting use
    ``Budget(split=0.5)`` and
    ``Options(discipline="shed_then_join", recompute=Successive())``, ``Every(k)`` or
    ``Adaptive()``.

    *Guarantee.* None. It is not best in general: stationary frequencies favour
    ``Prob``, importance that depends on the key favours ``Greedy``.

    *Cost.* O(1) amortised per arrival with the default recomputation.

    References
    ----------
    .. [1] D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join
       Approximation over Data Streams", SSDBM 2008.

    Examples
    --------
    A row with importance 4 and 3 matches is worth 2 at age 6. At age 8 its matches are
    worth 1.5. If it has had no match for 4 units of time, which exceeds the patience of
    3, a penalty of 0.5 per unit takes off 2.

    >>> from shedjoin.policies import Residents
    >>> rows = Residents.example(
    ...     time=[2_000_000], now_us=8_000_000, importance=[4.0], matches=[3.0],
    ...     last_match=[8_000_000],
    ... )
    >>> IJoin().score(rows).tolist()
    [2.0]
    >>> rows = Residents.example(
    ...     time=[2_000_000], now_us=10_000_000, importance=[4.0], matches=[3.0],
    ...     last_match=[6_000_000],
    ... )
    >>> IJoin(penalty=0.5).score(rows).tolist()
    [-0.5]
    >>> IJoin(penalty=-1)
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: IJoin(penalty=-1) is not a finite cost.
    Fix: pass 0 for no penalty, or a number such as 1.0.
    """

    maturity: Duration = "2 seconds"
    patience: Duration = "3 seconds"
    penalty: float = 1.0
    decay: float = 0.1
    unit: Duration = "1 second"
    foresight: bool = True

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("matches",)

    def __post_init__(self) -> None:
        for name, what in (("penalty", "cost"), ("decay", "rate")):
            value = getattr(self, name)
            if not 0.0 <= value < np.inf:
                raise ParameterError(
                    f"IJoin({name}={value!r}) is not a finite {what}.",
                    fix=f"pass 0 for no {name}, or a number such as 1.0.",
                )
        for name in ("maturity", "patience", "unit"):
            value = parse_duration(getattr(self, name))
            if value < (name == "unit"):
                raise ParameterError(
                    f"IJoin({name}={getattr(self, name)!r}) is not a length of time.",
                    fix=f'pass {name}="1 second".',
                )

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: its residence priority."""
        unit = parse_duration(self.unit)
        importance = _finite(residents.importance)
        age = residents.age_us / unit
        grown = age > 0
        worth = importance * residents.matches / np.where(grown, age, 1.0)
        idle_us = np.maximum(0, residents.now_us - residents.last_match)
        fine = np.where(
            idle_us >= parse_duration(self.patience),
            float(self.penalty) * idle_us / unit,
            0.0,
        )
        return np.where(grown, worth - fine, importance)

    def first_score(self, arrivals: Residents) -> FloatArray:
        """Worth of an arrival: its importance."""
        return _finite(arrivals.importance)

    @property
    def pace(self) -> Pace:
        """Rows up to the maturity are spared, and past matches fade."""
        fading = float(self.decay) / parse_duration(self.unit)
        return Pace(parse_duration(self.maturity), fading, self.foresight)


def _finite(importance: FloatArray) -> FloatArray:
    """Importance, or 1 on a side that has none."""
    return np.where(np.isinf(importance), 1.0, importance)
