"""Policies of Srivastava and Widom (VLDB 2004) for the most results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shedjoin.policies.base import Policy
from shedjoin.policies.residents import Residents
from shedjoin.types import FloatArray


@dataclass(frozen=True, slots=True)
class Prob(Policy):
    """Keep the rows whose key is likeliest to arrive on the other stream.

    For streams in which some keys are more frequent than others, and stay so for a
    while (the paper's frequency-based model).

    Notes
    -----
    *Source.* Section 3.3 of [1]_ (PROB; the heuristic is Das, Gehrke and Riedewald's).

    *Symbols.* f2(v), the opposite frequency of value v, is ``partner_count``. It is the
    decayed number of arrivals with that key, divided by the part of it that can have
    been reached since the first arrival.

    *Departures.* Frequencies are learned while the join runs and fade with a half-life
    of one window. Both streams share one pool unless ``Budget(split=...)``: counts are
    arrivals per half-life in either stream, so they can be compared. The paper's
    analysis keeps whole values only; here the last value is kept in part.

    *Guarantee.* Most results, in expectation, if keys are drawn independently with
    fixed frequencies.

    *Cost.* O(1) amortised per arrival with the default recomputation; one table of
    counts of keys.

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
    >>> arrived = np.array([7, 7, 8])
    >>> models.begin(1_000_000)
    >>> models.observe(np.ones(3, int), arrived, np.full(3, 11_000_000))
    >>> rows = Residents.example(
    ...     time=[0, 0, 0], key=[7, 8, 9], now_us=11_000_000, models=models
    ... )
    >>> Prob().score(rows).tolist()
    [4.0, 2.0, 0.0]
    """

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("models",)

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: how frequent its key is on the other stream."""
        return residents.partner_count()


@dataclass(frozen=True, slots=True)
class Age(Policy):
    """Keep the rows of the ages that have most results ahead of them.

    For streams in which the age of a row predicts its matches and its key does not (the
    paper's age-based model): bids come at the end of an auction, answers shortly after
    the question.

    Notes
    -----
    *Source.* Section 3.2 of [1]_, with the priority rule of section 3.2.3, which
    covers k_opt, "hold M" and curves with minima.

    *Symbols.* p(k) is the learned curve in results per second, in 64 buckets of age
    over the window; C(k) its running sum; Priority(i) is ``priority_by_age``.

    *Departures.* The curve is learned on the monitored slice. Priorities of the two
    streams can be compared, so both share one pool unless ``Budget(split=...)``. Among
    rows with equal priorities, the oldest is shed; the paper leaves ties open.

    *Guarantee.* Most results, in expectation, if the curve has no minima; within 1 %
    of the optimum in all tried cases with minima.

    *Cost.* O(1) amortised per arrival with the default recomputation.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    Example 3.4 of the paper: after three results in the first unit, none in the
    second and two in the third, the middle-aged row is worth least.

    >>> import numpy as np
    >>> from shedjoin.models.curve import priorities
    >>> priorities(np.array([3.0, 0.0, 2.0])).tolist()
    [3.0, 1.0, 2.0]
    """

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("models",)

    @property
    def by_keys(self) -> bool:
        """False: only the age of a row counts."""
        return False

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: the best mean rate of results from its age on."""
        return residents.priority_by_age()
