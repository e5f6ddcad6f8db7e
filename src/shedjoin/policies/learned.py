"""The default policies, which use everything that the join has learned."""

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

    The policy of ``keep=MostResults()``. If only keys matter it decides as ``Prob``,
    and if only age matters as ``Age``. It learns which is the case. If the budget is in
    bytes, results are divided by the bytes of the row: a large row has to bring more.

    Notes
    -----
    *Source.* Combines the two models of Srivastava and Widom [1]_, sections 3.2 and
    3.3, which the paper treats apart.

    *Symbols.* The paper's p(k), with k an age, becomes p(l, k): the expected results
    per second of a row that has the age k and a key of level l. The level is the
    decayed count of the key on the other stream, in half octaves.

    *Departures.* The combination is our own. The table is learned on the monitored
    slice. Cells with little evidence are drawn towards the product of the rates of
    their level and their age. The slice also gives a factor for size: matches of rows
    of that size, relative to all rows with equally frequent keys.

    *Guarantee.* None beyond those of ``Prob`` and ``Age`` in their models.

    *Cost.* O(1) amortised per arrival with the default recomputation; 24 KB of table.

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
        """Worth of each row, per byte.

        It is the highest mean of results per second, over all spans of time from the
        present age of the row to a later age.
        """
        return residents.priority() * residents.size_factor() / residents.size


@dataclass(frozen=True, slots=True)
class Valued(Policy):
    """Keep the rows whose results will be worth most.

    The policy of ``keep=MostImportant(...)``. A row is worth its results per second, as
    in ``Expected``, times the mean importance of a result with this row. If the budget
    is in bytes, this worth is divided by the bytes of the row.

    Notes
    -----
    *Source.* The aim of iJoin [1]_, section 3.3 (total importance, equation 3), with
    the rates of :class:`Expected` in place of past matches.

    *Symbols.* imp(o) = min(imp(r), imp(s)) becomes its mean over the importances that
    the other stream brought lately.

    *Departures.* A heuristic of our own. Unlike iJoin, it does not spare young rows
    (maturity), and a row loses nothing for time without matches (penalty).

    *Guarantee.* None: importance is taken as independent of key and age.

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
        """Worth of each row, per byte.

        It is the highest mean of results per second, over all spans of time from the
        present age of the row to a later age, times the mean importance of a result
        with this row.
        """
        rate = residents.priority() * residents.size_factor() / residents.size
        return rate * residents.mean_worth()
