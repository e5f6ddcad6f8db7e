"""Baselines: policies whose scores depend on nothing but the row itself."""

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

    *Guarantee.* Fair: while rates are steady, all rows are kept for the same time.

    *Cost.* Each row is scored once, in O(1).

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
        """Score of each row: its arrival number."""
        return residents.number.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Recent(Policy):
    """Shed the row with the oldest event time.

    Notes
    -----
    *Source.* RECENT in Srivastava and Widom [1]_, section 6.2.

    *Symbols.* None.

    *Departures.* Rows are compared by event time. So a row that comes out of order
    counts as old from the start.

    *Guarantee.* Best of all policies if rows have fewer and fewer results as they age.

    *Cost.* Each row is scored once, in O(1).

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
        """Score of each row: its time."""
        return residents.time.astype(np.float64)


@dataclass(frozen=True, slots=True)
class UntilExpiry(Policy):
    """Keep residents until they expire; refuse arrivals while there is no room.

    Notes
    -----
    *Source.* UNTIL-EXPIRY in Srivastava and Widom [1]_, section 6.2.

    *Symbols.* None.

    *Departures.* None.

    *Guarantee.* Best of all policies if rows have more and more results as they age.

    *Cost.* Each row is scored once, in O(1).

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
        """Score of each row: minus its arrival number."""
        return -residents.number.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Rand(Policy):
    """Shed random rows, each with the same probability.

    Parameters
    ----------
    seed : int, default 0
        The same seed repeats the same choices.

    Notes
    -----
    *Source.* RAND in iJoin [1]_, sections 1.1 and 5.

    *Symbols.* None.

    *Departures.* Every row gets a lot on arrival: a hash of the seed, its key and its
    arrival number. The row with the lowest lot is shed. So the residents are a uniform
    sample of the arrivals that have not expired. In the paper, a random row is chosen
    at each shed, so that later rows are more likely to be kept. RAND-S of the
    star-streaming paper (see :mod:`shedjoin.policies.towne`) also chooses at each shed,
    so it is not this policy. Here, rows with high lots stay for long. With little
    memory, this finds more results.

    *Guarantee.* A uniform sample of the rows, but not of the results.

    *Cost.* Each row is scored once, in O(1).

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
        """Score of each row: its lot."""
        return lots(self.seed, residents.key, residents.number)


@dataclass(frozen=True, slots=True)
class Greedy(Policy):
    """Shed the least important row.

    Notes
    -----
    *Source.* GREEDY in iJoin [1]_, sections 1.1 and 5.

    *Symbols.* imp is ``importance``.

    *Departures.* The paper does not say which of several equally important rows is
    shed. Here it is the newest. If all rows are equally important, this gives the
    fairness of 20 % that the paper reports.

    *Guarantee.* None. An important row stays until it expires, even without matches.

    *Cost.* Each row is scored once, in O(1).

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
        """Score of each row: its importance."""
        return residents.importance
