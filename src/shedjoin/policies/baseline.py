"""Baselines: policies that use nothing but the row itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shedjoin.policies.base import Policy, Ties
from shedjoin.policies.residents import Residents
from shedjoin.sampling.lots import check_seed, lots
from shedjoin.types import FloatArray


@dataclass(frozen=True, slots=True)
class Fifo(Policy):
    """Shed the row that arrived first.

    Notes
    -----
    *Source.* FIFO in iJoin [1]_, sections 1.1 and 5.

    *Symbols.* None.

    *Departures.* None.

    *Guarantee.* Fair: all rows are kept equally long while rates are steady.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join
       Approximation over Data Streams", SSDBM 2008.

    Examples
    --------
    >>> from shedjoin.policies import Residents
    >>> Fifo().score(Residents.example(time=[5, 3], now_us=9)).tolist()
    [0.0, 1.0]
    """

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: its arrival number."""
        return residents.number.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Recent(Policy):
    """Shed the row with the oldest event time.

    Notes
    -----
    *Source.* RECENT in Srivastava and Widom [1]_, section 6.2.

    *Symbols.* None.

    *Departures.* Rows are compared by event time, so a row that comes late counts as
    old.

    *Guarantee.* Best of all policies if a row only has fewer results as it grows older.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.policies import Residents
    >>> Recent().score(Residents.example(time=[5, 3], now_us=9)).tolist()
    [5.0, 3.0]
    """

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: its time."""
        return residents.time.astype(np.float64)


@dataclass(frozen=True, slots=True)
class UntilExpiry(Policy):
    """Keep residents until they expire; refuse arrivals while there is no room.

    Notes
    -----
    *Source.* UNTIL-EXPIRY in Srivastava and Widom [1]_, section 6.2.

    *Symbols.* None.

    *Departures.* None.

    *Guarantee.* Best of all policies if a row only has more results as it grows older.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.policies import Residents
    >>> UntilExpiry().score(Residents.example(time=[5, 3], now_us=9)).tolist()
    [-0.0, -1.0]
    """

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: the later it arrived, the lower."""
        return -residents.number.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Rand(Policy):
    """Shed random rows, each with the same probability.

    Parameters
    ----------
    seed : int, default 0
        Another seed makes other choices; the same one repeats them.

    Notes
    -----
    *Source.* RAND in iJoin [1]_, sections 1.1 and 5.

    *Symbols.* None.

    *Departures.* Every row draws its lot on arrival, from a hash of the seed, its key
    and its arrival number. The row with the lowest lot is shed. The residents are then
    a uniform sample of the unexpired arrivals. The paper draws anew at each shed, which
    favours later rows. RAND-S of the star-streaming paper draws anew as well, and is
    not this policy: the experiments have a simulation of it. With one lot for life some
    rows stay long, so that with little memory more results are found.

    *Guarantee.* A uniform sample of the rows, not of the results.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join
       Approximation over Data Streams", SSDBM 2008.

    Examples
    --------
    >>> from shedjoin.policies import Residents
    >>> lots = Rand(seed=1).score(Residents.example(time=[5, 3], now_us=9))
    >>> bool(((0 <= lots) & (lots < 1)).all())
    True
    >>> Rand(seed=-1)
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Rand(seed=-1) is not a seed.
    Fix: pass a whole number from 0 to 4611686018427387904.
    """

    seed: int = 0

    def __post_init__(self) -> None:
        check_seed("Rand", self.seed)

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: its lot."""
        return lots(self.seed, residents.key, residents.number)


@dataclass(frozen=True, slots=True)
class Greedy(Policy):
    """Shed the least important row.

    Notes
    -----
    *Source.* GREEDY in iJoin [1]_, sections 1.1 and 5.

    *Symbols.* imp is ``importance``.

    *Departures.* Among equally important rows, the newest is shed. That gives the
    paper's fairness of 20 % for equal importances; the paper leaves ties open.

    *Guarantee.* None: an important row that matches nothing stays until it expires.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join
       Approximation over Data Streams", SSDBM 2008.

    Examples
    --------
    >>> from shedjoin.policies import Residents
    >>> rows = Residents.example(time=[5, 3], now_us=9, importance=[2.0, 7.0])
    >>> Greedy().score(rows).tolist()
    [2.0, 7.0]
    """

    ties: ClassVar[Ties] = "newest"

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: its importance."""
        return residents.importance
