"""The default policies, which use all models of the join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shedjoin.policies.base import Policy
from shedjoin.policies.residents import Residents
from shedjoin.spec.capabilities.asked import Family
from shedjoin.types import FloatArray


@dataclass(frozen=True, slots=True)
class Expected(Policy):
    """Keep the rows that will bring most results, by key and by age.

    This is the policy of ``keep=MostResults()``. It learns how matches depend on keys
    and ages. If they depend on the key only, the policy decides as ``Prob`` does. If
    they depend on the age only, it decides as ``Age`` does. If the budget is in bytes,
    the expected results of a row are divided by its bytes, so that a large row must
    bring more results.

    Notes
    -----
    *Source.* The two models of Srivastava and Widom [1]_, sections 3.2 and 3.3, which
    the paper considers separately, are combined.

    *Symbols.* The paper's p(k), with k an age, becomes p(l, k): the expected results
    per second of a row of age k whose key has level l. The level is the decayed count
    of the key on the other stream, on a logarithmic scale: each level is a factor of
    sqrt(2).

    *Departures.* The combination is our own. The table of p(l, k) is learned from the
    rows of monitored keys. If few results were counted for a pair (l, k), its rate is
    drawn towards the product of the rates of the level and of the age. The size factor
    is learned from the same rows.

    *Guarantee.* In the two models of the paper, that of ``Prob`` or of ``Age``.
    Otherwise none.

    *Cost.* O(1) amortised per arrival with the default recomputation. The table takes
    32 KB.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from shedjoin.policies import Residents
    >>> from shedjoin.models.learned import Models
    >>> models = Models((10_000_000, 10_000_000), capacity_rows=100)
    >>> rng = np.random.default_rng(1)
    >>> side, time = np.arange(4000) % 2, np.arange(4000) * 20_000
    >>> key = np.where(rng.random(4000) < 0.5, 7, rng.integers(10, 1000, 4000))
    >>> for part in np.split(np.arange(4000), 40):
    ...     models.observe(side[part], key[part], time[part])
    >>> rows = Residents.example(
    ...     [80_000_000] * 2, key=[7, 11], now_us=80_000_000, models=models
    ... )
    >>> hot, cold = Expected().score(rows)
    >>> bool(hot > 10 * cold)
    True
    >>> rows = Residents.example(
    ...     [80_000_000] * 2,
    ...     key=[7, 7],
    ...     size=[200, 1000],
    ...     now_us=80_000_000,
    ...     models=models,
    ... )
    >>> small, large = Expected().score(rows)
    >>> round(float(small / large), 6)
    5.0
    """

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("models",)

    def score(self, residents: Residents) -> FloatArray:
        """Score of each row: its priority, divided by its size.

        The priority is a mean of results per second, from the present age of the row to
        a later age. The later age is chosen so that this mean is highest.
        """
        return residents.priority() * residents.size_factor() / residents.size


@dataclass(frozen=True, slots=True)
class Valued(Policy):
    """Keep the rows whose results will have the greatest importance.

    This is the policy of ``keep=MostImportant(...)``. The score of a row is its results
    per second, as in ``Expected``, times the mean importance of its results. If the
    budget is in bytes, this is divided by the bytes of the row.

    Notes
    -----
    *Source.* The aim of iJoin [1]_, section 3.3 (total importance, equation 3), with
    the rates of :class:`Expected` instead of past matches.

    *Symbols.* imp(o) = min(imp(r), imp(s)) becomes its mean over the importances of
    recent rows of the other stream.

    *Departures.* A heuristic of our own. Unlike iJoin, it has no maturity, so that
    young rows can be shed. It also has no penalty for time without matches.

    *Guarantee.* None, because importance is assumed to be independent of key and age.

    *Cost.* O(1) amortised per arrival with the default recomputation.

    References
    ----------
    .. [1] D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join
       Approximation over Data Streams", SSDBM 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from shedjoin.policies import Residents
    >>> from shedjoin.models.learned import Models
    >>> models = Models((10_000_000, 10_000_000), capacity_rows=100)
    >>> side, time = np.arange(400) % 2, np.arange(400) * 20_000
    >>> models.observe(side, np.zeros(400, int), time)
    >>> rows = Residents.example(
    ...     [7_000_000] * 2, importance=[1.0, 3.0], now_us=8_000_000, models=models
    ... )
    >>> low, high = Valued().score(rows)
    >>> round(float(high / low), 6)
    3.0
    """

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("models",)

    @property
    def family(self) -> Family:
        """Family of the policies that score rows by the importance of pairs of rows."""
        return "valued"

    def score(self, residents: Residents) -> FloatArray:
        """Score of each row: its score by ``Expected``, times a mean importance.

        The mean is taken over the importances of the results of the row.
        """
        rate = residents.priority() * residents.size_factor() / residents.size
        return rate * residents.mean_worth()
