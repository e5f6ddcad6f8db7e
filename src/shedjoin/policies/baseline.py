"""Policies that look at nothing but the row itself: the yardsticks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shedjoin.policies.base import Policy, Residents, Ties
from shedjoin.sampling.lots import check_seed, lots
from shedjoin.types import FloatArray

if TYPE_CHECKING:
    from shedjoin.models.learned import Models


@dataclass(frozen=True, slots=True)
class Fifo(Policy):
    """Let the row go that arrived first.

    Notes
    -----
    *Source.* FIFO in iJoin [1]_, sections 1.1 and 5.

    *Symbols.* None.

    *Departures.* None.

    *Guarantee.* Fair: all rows stay equally long while rates are steady.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join
       Approximation over Data Streams", SSDBM 2008.

    Examples
    --------
    >>> from shedjoin.policies.base import Residents
    >>> Fifo().score(Residents.example(time=[5, 3], now_us=9), None).tolist()
    [0.0, 1.0]
    """

    counts_matches: ClassVar[bool] = False

    def score(self, residents: Residents, models: Models) -> FloatArray:
        """Worth of each row: its arrival number."""
        del models
        return residents.number.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Recent(Policy):
    """Let the row with the oldest event time go.

    Notes
    -----
    *Source.* RECENT in Srivastava and Widom [1]_, section 6.2.

    *Symbols.* None.

    *Departures.* By event time, so that a row that came late counts as old.

    *Guarantee.* Best among all policies if results only get fewer with age.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.policies.base import Residents
    >>> Recent().score(Residents.example(time=[5, 3], now_us=9), None).tolist()
    [5.0, 3.0]
    """

    counts_matches: ClassVar[bool] = False

    def score(self, residents: Residents, models: Models) -> FloatArray:
        """Worth of each row: its time."""
        del models
        return residents.time.astype(np.float64)


@dataclass(frozen=True, slots=True)
class UntilExpiry(Policy):
    """Keep who is in until it expires; refuse newcomers while there is no room.

    Notes
    -----
    *Source.* UNTIL-EXPIRY in Srivastava and Widom [1]_, section 6.2.

    *Symbols.* None.

    *Departures.* None.

    *Guarantee.* Best among all policies if results only get more with age.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.policies.base import Residents
    >>> UntilExpiry().score(Residents.example(time=[5, 3], now_us=9), None).tolist()
    [-0.0, -1.0]
    """

    counts_matches: ClassVar[bool] = False

    def score(self, residents: Residents, models: Models) -> FloatArray:
        """Worth of each row: the later it came, the less."""
        del models
        return -residents.number.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Rand(Policy):
    """Let any row go, each with the same chance.

    Parameters
    ----------
    seed : int, default 0
        Another seed makes other choices; the same one repeats them.

    Notes
    -----
    *Source.* RAND in iJoin [1]_, sections 1.1 and 5.

    *Symbols.* None.

    *Departures.* Every row draws its lot on arrival, from a hash of the seed, its key
    and its arrival number; the lowest lot leaves. The residents are then a uniform
    sample of the unexpired arrivals. The paper redraws at each shed, which favours
    later rows.

    *Guarantee.* A uniform sample of the rows, not of the results.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join
       Approximation over Data Streams", SSDBM 2008.

    Examples
    --------
    >>> from shedjoin.policies.base import Residents
    >>> lots = Rand(seed=1).score(Residents.example(time=[5, 3], now_us=9), None)
    >>> bool(((0 <= lots) & (lots < 1)).all())
    True
    >>> Rand(seed=-1)
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Rand(seed=-1) is not a seed.
    Fix: pass a whole number from 0 to 4611686018427387904.
    """

    counts_matches: ClassVar[bool] = False

    seed: int = 0

    def __post_init__(self) -> None:
        check_seed("Rand", self.seed)

    def score(self, residents: Residents, models: Models) -> FloatArray:
        """Worth of each row: its lot."""
        del models
        return lots(self.seed, residents.key, residents.number)


@dataclass(frozen=True, slots=True)
class Greedy(Policy):
    """Let the least important row go.

    Notes
    -----
    *Source.* GREEDY in iJoin [1]_, sections 1.1 and 5.

    *Symbols.* imp is ``importance``.

    *Departures.* Among equals the newcomer leaves, which gives the paper's fairness of
    20 % for equal importances; the paper leaves ties open.

    *Guarantee.* None: an important row that matches nothing stays until it expires.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join
       Approximation over Data Streams", SSDBM 2008.

    Examples
    --------
    >>> from shedjoin.policies.base import Residents
    >>> rows = Residents.example(time=[5, 3], now_us=9, importance=[2.0, 7.0])
    >>> Greedy().score(rows, None).tolist()
    [2.0, 7.0]
    """

    counts_matches: ClassVar[bool] = False
    ties: ClassVar[Ties] = "newest"

    def score(self, residents: Residents, models: Models) -> FloatArray:
        """Worth of each row: its importance."""
        del models
        return residents.importance
