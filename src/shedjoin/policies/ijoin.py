"""Policies of Kulkarni and Ravishankar (SSDBM 2008) for important results."""

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

    *Symbols.* The matches of a row are ``matches``.

    *Departures.* The paper does not define the rule. Here the score is the number of
    matches so far, including those of the present instant. Among rows with equal
    scores, the oldest is shed. With
    ``Options(discipline="shed_then_join", recompute=Successive())``, this gives the
    outputs of the paper's Table 3(b), and its fairness for all window sizes. No rule
    gives the buffers that the table shows.

    *Guarantee.* None, since it is a heuristic.

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
        """Score of each row: its matches so far."""
        return residents.matches


@dataclass(frozen=True, slots=True)
class IJoin(Policy):
    """Keep important rows that keep matching, after a grace period for each row.

    The score of a row is its importance times its matches per unit of age. Young rows
    are not shed. If a row has not matched for a while, its score is reduced.

    Parameters
    ----------
    maturity : duration, default "2 seconds"
        Rows up to this age are not shed while there is an older row to shed.
    patience : duration, default "3 seconds"
        A row is unproductive if its last match is at least this long ago.
    penalty : float, default 1.0
        How much the score of an unproductive row is reduced, per unit of time since its
        last match. Small values favour importance, large values fairness.
    decay : float, default 0.1
        Rate at which past matches fade, per unit of time. With 0, all past matches
        count the same, as the paper's global matches do.
    unit : duration, default "1 second"
        The unit of time in which ages, penalty and decay are measured.
    foresight : bool, default True
        Whether the matches of an instant count before rows of this instant are shed.

    Notes
    -----
    *Source.* Section 4 of [1]_: equations 5 to 8, Algorithms 1 and 2.

    *Symbols.* RP is the score, tau ``maturity``, Delta ``patience``, c ``penalty``,
    d ``decay``, imp ``importance``, prevmatch ``last_match``.

    *Departures.* The paper leaves RP_init open. Here RP of an arrival is its
    importance, and its last match is its arrival. Among rows with equal scores, the
    oldest is shed. If no resident is mature, the arrival is refused. So if rows need
    longer to mature than to fill the buffer, the buffer does not change until they are
    mature. With ``foresight``, the matches of an instant count before rows are shed.
    With this reading of the paper, its ranking of the schemes holds on drifting data.
    For the setting of the paper, use ``Budget(split=0.5)`` and
    ``Options(discipline="shed_then_join", recompute=Successive())``, or ``Every(k)`` or
    ``Adaptive()`` as ``recompute``.

    *Guarantee.* None. If frequencies are stationary, ``Prob`` is better. If importance
    depends on the key, ``Greedy`` is better.

    *Cost.* O(1) amortised per arrival with the default recomputation.

    References
    ----------
    .. [1] D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join
       Approximation over Data Streams", SSDBM 2008.

    Examples
    --------
    A row with importance 4 and 3 matches has score 4 * 3 / 6 = 2 at age 6. At age 8,
    this would be 1.5. But if its last match was 4 units of time ago, this exceeds the
    patience of 3. With a penalty of 0.5 per unit, its score is 1.5 - 2 = -0.5.

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
    shedjoin.errors.ParameterError: IJoin(penalty=-1) is not a finite cost of 0 or more.
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
                    f"IJoin({name}={value!r}) is not a finite {what} of 0 or more.",
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
        """Score of each row: its residence priority RP."""
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
        """Score of each arrival: its importance."""
        return _finite(arrivals.importance)

    @property
    def pace(self) -> Pace:
        """Rows up to the maturity are not shed, and past matches fade."""
        fading = float(self.decay) / parse_duration(self.unit)
        return Pace(parse_duration(self.maturity), fading, self.foresight)


def _finite(importance: FloatArray) -> FloatArray:
    """Importance of each row; 1 in a stream without importance."""
    return np.where(np.isinf(importance), 1.0, importance)
