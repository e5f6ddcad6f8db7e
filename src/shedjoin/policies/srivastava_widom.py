"""Policies of Srivastava and Widom (VLDB 2004) for the most results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shedjoin.policies.base import Policy
from shedjoin.policies.residents import Residents
from shedjoin.types import FloatArray


@dataclass(frozen=True, slots=True)
class Prob(Policy):
    """Keep the rows whose key is most frequent on the other stream.

    This suits streams in which some keys are more frequent than others for some time
    (the paper's frequency-based model).

    Notes
    -----
    *Source.* PROB, section 3.3 of [1]_. The heuristic is by Das, Gehrke and Riedewald.

    *Symbols.* f2(v), the opposite frequency of value v, is ``partner_count``: the
    number of arrivals with this key, where older ones count less. Soon after the first
    arrival, these numbers are still too low. So they are divided by the part of their
    final value that they can have reached.

    *Departures.* Frequencies are learned while the join runs, and fade with a half-life
    of one window. Unless ``Budget(split=...)`` is given, both streams share one pool.
    This is possible because counts of both streams have the same unit: arrivals per
    half-life. The paper's analysis keeps all rows of a value or none. Here the last
    value may be kept in part.

    *Guarantee.* Most expected results, if keys are drawn independently with fixed
    frequencies.

    *Cost.* O(1) amortised per arrival with the default recomputation. One table of
    counts of keys is kept.

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
        """Score of each row: the decayed count of its key on the other stream."""
        return residents.partner_count()


@dataclass(frozen=True, slots=True)
class Age(Policy):
    """Keep the rows whose age promises most results.

    This suits streams in which the age of a row predicts its matches and its key does
    not (the paper's age-based model). For example, most bids come at the end of an
    auction, and answers come shortly after the question.

    Notes
    -----
    *Source.* Section 3.2 of [1]_, with the priority rule of section 3.2.3, which
    covers k_opt, "hold M" and curves with minima.

    *Symbols.* p(k) is a learned curve of results per second, in 64 buckets of age over
    the window. C(k) is its running sum, and Priority(i) is ``priority_by_age``.

    *Departures.* The curve is learned from the rows of monitored keys. Priorities of
    the two streams can be compared. So both streams share one pool, unless
    ``Budget(split=...)`` is given. The paper does not say which of several rows with
    equal priorities is shed. Here it is the oldest.

    *Guarantee.* Most expected results if the curve has no minima. In all tried cases
    with minima, the results were within 1 % of the optimum.

    *Cost.* O(1) amortised per arrival with the default recomputation.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    In example 3.4 of the paper, a row has three results in its first unit of time, none
    in the second, and two in the third. A row in its second unit has the lowest
    priority.

    >>> import numpy as np
    >>> from shedjoin.models.curve import priorities
    >>> priorities(np.array([3.0, 0.0, 2.0])).tolist()
    [3.0, 1.0, 2.0]
    """

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("models",)

    @property
    def by_keys(self) -> bool:
        """False, because scores depend on the age of a row only."""
        return False

    def score(self, residents: Residents) -> FloatArray:
        """Score of each row: its priority by age."""
        return residents.priority_by_age()
