"""Policies that keep a sample of the join, with known inclusion probabilities."""

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
    """Samples rows: scores are cluster sizes divided by lots, and the highest stay.

    A row of cluster size q with the lot u in (0, 1) has the score q / u. The row stays
    while its score exceeds every score that was shed since it came. The highest shed
    score is the bar b. So the row stays with probability min(1, q / b), whatever
    happens to other rows. The budget is used up, but never exceeded. Weights are exact,
    even if the models estimate q badly.
    """

    __slots__ = ()
    seed: int

    def __post_init__(self) -> None:
        check_seed(type(self).__name__, self.seed)

    def inclusion(
        self, score: FloatArray, bar: FloatArray, key: IntArray, number: IntArray
    ) -> FloatArray:
        """Probability that each row is still a resident, given its score and bar."""
        size = score * lots(self.seed, key, number)
        return size / np.maximum(bar, size)


def by_lot(seed: int, size: FloatArray, rows: Residents) -> FloatArray:
    """Scores of rows: their cluster sizes divided by their lots."""
    return size / lots(seed, rows.key, rows.number)


@dataclass(frozen=True, slots=True)
class EqCluster(ByLot):
    """Sample rows with equal probability, each with all its results.

    Parameters
    ----------
    seed : int, default 0
        The same seed repeats the same sample.

    Notes
    -----
    *Source.* EQ-CLUSTER in Srivastava and Widom [1]_, section 4.3.1.

    *Symbols.* p is the probability that the budget allows: 1 / b in :class:`ByLot`.

    *Departures.* p is not set beforehand: rows get lots on arrival, and those with the
    highest scores stay. Both streams are sampled, so that every result has a chance.

    *Guarantee.* Unbiased SUM and COUNT for any streams. Errors are small if all rows
    have about the same number of results.

    *Cost.* Each row is scored once, in O(1).

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    A row of cluster size 1 stays with probability 1/2 if 2 is the highest score that
    was shed since it came:

    >>> import numpy as np
    >>> rows = Residents.example(time=[5, 3], now_us=9)
    >>> score = EqCluster().score(rows)
    >>> EqCluster().inclusion(score, np.full(2, 2.0), rows.key, rows.number).tolist()
    [0.5, 0.5]
    """

    seed: int = 0

    def score(self, residents: Residents) -> FloatArray:
        """Score of each row: 1 divided by its lot."""
        return by_lot(self.seed, np.ones(residents.key.size), residents)


@dataclass(frozen=True, slots=True)
class PpsCluster(ByLot):
    """Sample rows in proportion to their expected results, each with all its results.

    With ``Sample(of="bid", by=PpsCluster())``, the expected results of a row are
    multiplied by its value, divided by the mean value of its stream.

    Parameters
    ----------
    seed : int, default 0
        The same seed repeats the same sample.

    Notes
    -----
    *Source.* PPS-CLUSTER in Srivastava and Widom [1]_, section 4.3.1.

    *Symbols.* n_i(s) is ``expected_matches``. The paper's pi(v) = min(1, p f(v)) is
    min(1, q / b) of :class:`ByLot`, with q in proportion to n_i(s).

    *Departures.* As in :class:`EqCluster`, p follows from the budget. So the paper's
    capping and iteration need no steps of their own. Every q contains an equal part, a
    tenth of the mean q. Without this part, a row could have a huge weight, if it came
    before its key was known to be frequent. In the paper, q depends on matches alone.
    Here q may also depend on the absolute value of the row. A value below 5 % of the
    mean is taken as 5 % of the mean, so that every row has a chance.

    *Guarantee.* Unbiased SUM and COUNT, even if the expected matches are wrong.

    *Cost.* Each row is scored once, in O(1).

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
        """Score of each row: expected matches times value, divided by its lot."""
        size = residents.cluster_sizes() * residents.value_sizes()
        return by_lot(self.seed, size, residents)


@dataclass(frozen=True, slots=True)
class Uniform(ByLot):
    """Sample results, each with the same probability and independently of the others.

    Parameters
    ----------
    fraction : float, default 1.0
        Upper bound of the part of the results that is sampled. For a CPU budget, it can
        be computed by ``plan.work_fraction(...)``. If the memory is estimated to have
        no room for this part, a smaller part is sampled.
    seed : int, default 0
        The same seed repeats the same sample.

    Notes
    -----
    *Source.* UNIFORM in Srivastava and Widom [1]_, section 4.2 (Figure 4). For a CPU
    budget: Ayad et al. [2]_, section 4.

    *Symbols.* n_i(s) is ``expected_matches``, rounded and at least 1. p is
    ``outlook.fraction``: it is computed by Theorem 4.2 from the rows of monitored keys.

    *Departures.* Coins are hashes, so all of them can be computed when a row comes. A
    row is dropped after the last match that its coins select. If arrivals are a Poisson
    process, the sample uses less memory than by Theorem 4.2. If the memory still does
    not suffice, rows are shed by lot as in :class:`EqCluster`, and the weights account
    for this.

    *Guarantee.* A uniform sample if n_i(s) is right. If a row has more than n_i(s)
    matches, the other matches are never sampled, so that SUM and COUNT are too low.

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
    shedjoin.errors.ParameterError: Uniform(fraction=0) is not above 0 and at most 1.
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
                f"Uniform(fraction={self.fraction!r}) is not above 0 and at most 1.",
                fix="pass a fraction of the results, such as 0.1, or leave it out.",
            )

    def thin(self, arrivals: Residents) -> FloatArray:
        """Probability with which each match is emitted."""
        fraction = min(self.fraction, arrivals.outlook.fraction)
        return np.full(arrivals.key.size, fraction)

    def coins(self, arrivals: Residents) -> IntArray:
        """Number of coins of each row: its expected matches, at least 1.

        If all matches are emitted, the number is 0, which means that there is no limit.
        """
        if min(self.fraction, arrivals.outlook.fraction) == 1.0:
            return np.zeros(arrivals.key.size, np.int64)
        expected = arrivals.expected_matches()
        return np.rint(expected).clip(1, _MOST_COINS).astype(np.int64)

    def score(self, residents: Residents) -> FloatArray:
        """Score of each row: 1 divided by its lot."""
        return by_lot(self.seed, np.ones(residents.key.size), residents)


@dataclass(frozen=True, slots=True)
class BestSample(ByLot):
    """Sample by the scheme that is predicted to have the least error.

    The policy of ``keep=Sample()``. The scheme may change while the query runs. This
    does not change the scores of rows that have come before.

    Parameters
    ----------
    seed : int, default 0
        The same seed repeats the same sample.

    Notes
    -----
    *Source.* Srivastava and Widom [1]_, section 4.3.2.

    *Symbols.* See :func:`shedjoin.models.sampling.outlook`.

    *Departures.* The paper gives no formula. Here the error of a COUNT is predicted for
    each scheme, from the rows of monitored keys: the variance plus the squared bias.
    The scheme with the least error is used. The bias of ``Uniform`` is multiplied by 5
    before it is squared, because intervals do not include it. If rows have values, the
    error of their SUM is predicted instead. If ``EqCluster`` is chosen in this case,
    rows are sampled in proportion to their values.

    *Guarantee.* As for the chosen scheme.

    *Cost.* As for the chosen scheme.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    Without learned rates, all rows have the same probability:

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
        """Score of each row: its cluster size divided by its lot.

        The cluster size is the value of the row. Under ``PpsCluster``, the value is
        multiplied by the expected matches.
        """
        if residents.outlook.favours_pps:
            return PpsCluster(self.seed).score(residents)
        return by_lot(self.seed, residents.value_sizes(), residents)
