"""Samples of the join, with known inclusion probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.policies.base import SamplingPolicy
from shedjoin.policies.residents import Residents
from shedjoin.sampling.lots import check_seed, lots
from shedjoin.types import FloatArray, IntArray

_MOST_COINS = 1 << 20


class ByLot(SamplingPolicy):
    """Samples rows: a score is a size divided by a lot, and the highest stay.

    A row of size q with the lot u in (0, 1) stays while q / u is above every score that
    was shed since it came. The highest of these scores is the bar b. So the row stays
    with probability min(1, q / b), whatever happens to other rows. The budget is used
    up but never exceeded, and weights are exact whatever the models estimate.
    """

    __slots__ = ()
    seed: int

    def __post_init__(self) -> None:
        check_seed(type(self).__name__, self.seed)

    def inclusion(
        self, score: FloatArray, bar: FloatArray, key: IntArray, number: IntArray
    ) -> FloatArray:
        """Probability that a row of this score is still a resident."""
        size = score * lots(self.seed, key, number)
        return size / np.maximum(bar, size)


def by_lot(seed: int, size: FloatArray, rows: Residents) -> FloatArray:
    """Scores of rows: their sizes divided by their lots."""
    return size / lots(seed, rows.key, rows.number)


@dataclass(frozen=True, slots=True)
class EqCluster(ByLot):
    """Sample rows with equal probability, each with all its results.

    Parameters
    ----------
    seed : int, default 0
        Another seed draws another sample.

    Notes
    -----
    *Source.* EQ-CLUSTER in Srivastava and Widom [1]_, section 4.3.1.

    *Symbols.* p is what the budget allows, 1 / bar in :class:`ByLot`.

    *Departures.* p is not set beforehand: rows draw lots on arrival, and those with the
    highest scores stay. Both streams are sampled, so that every result has a chance.

    *Guarantee.* Unbiased SUM and COUNT, whatever the streams. Suits clusters (results
    of one row) of about the same size.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    A row of size 1 stays with probability 1/2 if a score of 2 was shed since it came:

    >>> import numpy as np
    >>> rows = Residents.example(time=[5, 3], now_us=9)
    >>> score = EqCluster().score(rows)
    >>> EqCluster().inclusion(score, np.full(2, 2.0), rows.key, rows.number).tolist()
    [0.5, 0.5]
    """

    seed: int = 0

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: one over its lot."""
        return by_lot(self.seed, np.ones(residents.key.size), residents)


@dataclass(frozen=True, slots=True)
class PpsCluster(ByLot):
    """Sample rows in proportion to their expected results, each with all its results.

    With ``Sample(of="bid", by=PpsCluster())`` the expected results of a row are
    multiplied by its value over the mean value of its stream.

    Parameters
    ----------
    seed : int, default 0
        Another seed draws another sample.

    Notes
    -----
    *Source.* PPS-CLUSTER in Srivastava and Widom [1]_, section 4.3.1.

    *Symbols.* n_i(s) is ``expected_matches``, pi(v) = min(1, p f(v)) is
    min(1, q / bar) of :class:`ByLot` with q in proportion to n_i(s).

    *Departures.* p follows from the budget as in :class:`EqCluster`. That includes the
    capping and the iteration of the paper. A tenth of the mean q is the same for all
    rows. Without it, a row whose key was not known to be frequent when it came would
    have a huge weight. The paper's sizes are matches alone. Here they may also depend
    on a value, without its sign. A value below 5 % of the mean counts as 5 % of it, so
    that every row has a chance.

    *Guarantee.* Unbiased SUM and COUNT, even if the expected sizes are wrong.

    *Cost.* Scored once, O(1) per arrival.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> import numpy as np
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
    >>> policy, bar = PpsCluster(), np.full(2, 2.0)
    >>> score = policy.score(rows)
    >>> hot, cold = policy.inclusion(score, bar, rows.key, rows.number)
    >>> bool(hot > 4 * cold)
    True
    """

    seed: int = 0
    reads: ClassVar[tuple[str, ...]] = ("models",)

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: its expected matches, times its value, over its lot."""
        size = residents.cluster_sizes() * residents.value_sizes()
        return by_lot(self.seed, size, residents)


@dataclass(frozen=True, slots=True)
class Uniform(ByLot):
    """Sample results, each with the same probability and independently of the others.

    Parameters
    ----------
    fraction : float, default 1.0
        Upper bound of the part of the results that is sampled, such as
        ``plan.work_fraction(...)`` for a CPU budget. The part is smaller if the memory
        has no room for it, as far as that can be estimated.
    seed : int, default 0
        Another seed draws another sample.

    Notes
    -----
    *Source.* UNIFORM in Srivastava and Widom [1]_, section 4.2 (Figure 4); for a CPU
    budget Ayad et al. [2]_, section 4.

    *Symbols.* n_i(s) is ``expected_matches`` rounded, at least 1; p is
    ``outlook.fraction``, by Theorem 4.2 over the rows of the monitored slice.

    *Departures.* Coins are hashes and are all known on arrival, so that a row is
    dropped after its last match that wins. If arrivals are a Poisson process, the
    sample uses less memory than Theorem 4.2 says. If the memory does not suffice after
    all, rows are shed by lot as in :class:`EqCluster`, and the weights account for
    that.

    *Guarantee.* A uniform sample if n_i(s) is right. Matches beyond n_i(s) are never
    sampled: SUM and COUNT are then too low.

    *Cost.* O(1 / p) per arrival.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.
    .. [2] A. M. Ayad, J. F. Naughton, S. Wright, U. Srivastava, "Approximating
       Streaming Window Joins Under CPU Limitations", ICDE 2006.

    Examples
    --------
    >>> from shedjoin.models.learned import Models
    >>> models = Models((10_000_000, 10_000_000), capacity_rows=100)
    >>> rows = Residents.example(time=[5, 3], now_us=9, models=models)
    >>> Uniform(fraction=0.25).thin(rows).tolist()
    [0.25, 0.25]
    >>> Uniform(fraction=0)
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Uniform(fraction=0) samples nothing.
    Fix: pass a fraction of the results, such as 0.1, or leave it out.
    """

    fraction: float = 1.0
    seed: int = 0
    reads: ClassVar[tuple[str, ...]] = ("models",)
    thins: ClassVar[bool] = True
    tosses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_seed("Uniform", self.seed)
        if not 0.0 < self.fraction <= 1.0:
            raise ParameterError(
                f"Uniform(fraction={self.fraction!r}) samples nothing.",
                fix="pass a fraction of the results, such as 0.1, or leave it out.",
            )

    def thin(self, arrivals: Residents) -> FloatArray:
        """Probability with which each match is emitted."""
        fraction = min(self.fraction, arrivals.outlook.fraction)
        return np.full(arrivals.key.size, fraction)

    def coins(self, arrivals: Residents) -> IntArray:
        """Number of coins of each row: its expected matches, at least 1.

        While all matches are emitted it is 0, which means no limit.
        """
        if min(self.fraction, arrivals.outlook.fraction) == 1.0:
            return np.zeros(arrivals.key.size, np.int64)
        expected = arrivals.expected_matches()
        return np.rint(expected).clip(1, _MOST_COINS).astype(np.int64)

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: one over its lot."""
        return by_lot(self.seed, np.ones(residents.key.size), residents)


@dataclass(frozen=True, slots=True)
class BestSample(ByLot):
    """Sample by the scheme that is predicted to have the least error.

    The policy of ``keep=Sample()``. The scheme may change while the query runs: each
    row keeps the chance that it was given on arrival.

    Parameters
    ----------
    seed : int, default 0
        Another seed draws another sample.

    Notes
    -----
    *Source.* Srivastava and Widom [1]_, section 4.3.2.

    *Symbols.* See :func:`shedjoin.models.sampling.outlook`.

    *Departures.* The paper gives no formula. The scheme is taken whose predicted
    variance of a COUNT, plus its squared bias, is the least on the monitored slice. The
    bias of ``Uniform`` counts five times before it is squared, because intervals do not
    include it. If rows have values, the variance is that of their SUM. If ``EqCluster``
    is taken then, rows are sampled in proportion to their values.

    *Guarantee.* That of the scheme taken.

    *Cost.* That of the scheme taken.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    As long as no rates are learned, all rows are treated alike:

    >>> from shedjoin.models.learned import Models
    >>> models = Models((10_000_000, 10_000_000), capacity_rows=100)
    >>> rows = Residents.example(time=[5, 3], now_us=9, models=models)
    >>> BestSample().score(rows) == EqCluster().score(rows)
    array([ True,  True])
    """

    seed: int = 0
    reads: ClassVar[tuple[str, ...]] = ("models",)
    thins: ClassVar[bool] = True
    tosses: ClassVar[bool] = True

    def thin(self, arrivals: Residents) -> FloatArray:
        """Probability with which each match is emitted."""
        if arrivals.outlook.favours_uniform:
            return Uniform(seed=self.seed).thin(arrivals)
        return np.ones(arrivals.key.size)

    def coins(self, arrivals: Residents) -> IntArray:
        """Expected matches of each row under ``Uniform``; 0 under other schemes."""
        if arrivals.outlook.favours_uniform:
            return Uniform(seed=self.seed).coins(arrivals)
        return np.zeros(arrivals.key.size, np.int64)

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: its size over its lot.

        The size is its value, and under PPS its value times its expected matches.
        """
        if residents.outlook.favours_pps:
            return PpsCluster(self.seed).score(residents)
        return by_lot(self.seed, residents.value_sizes(), residents)
