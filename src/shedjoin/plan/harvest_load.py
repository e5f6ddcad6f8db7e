"""Results and work of a join of several streams, by basic windows.

The window of each stream is cut by age into equal parts, the *basic windows*. A
*direction* is how arrivals of one stream are joined: in several *hops*, each with one
other stream. A *harvest* says how many basic windows are joined in each hop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.plan.harvest_direction import Direction
from shedjoin.plan.lag_scores import ranking
from shedjoin.plan.model import FloatArray, Numbers, as_share, not_negative, numbers

_WHOLE = 1 + 1e-9
"""Greatest sum of the scores of one distribution, with allowance for rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class HarvestLoad:
    """A join of m streams whose windows are cut into basic windows [1]_.

    Parameters
    ----------
    rates : sequence of float
        Arrivals of each stream per time unit.
    windows : sequence of float
        How long rows of each stream are kept, in time units.
    orders : sequence of sequences of int
        ``orders[i]`` lists the other streams, counted from 0, in the order in which an
        arrival of stream i is joined with them; ``join_orders`` proposes one.
    selectivities : sequence of sequences of float
        ``selectivities[i][l]`` is the probability that a partial result of direction i
        and a row of stream l match; ``[i][i]`` is ignored.
    scores : sequence of sequences of sequences of float
        ``scores[i][l][k]`` is the share of the matches between streams i and l for
        which the row of l is in basic window k when the row of i arrives. The youngest
        basic window is number 0. ``[i][i]`` is ignored. ``lag_scores`` and
        ``flat_scores`` compute scores.
    normalise : bool, default False
        Divide scores by their sum. Pass True if ``selectivities`` are measured by
        direction over whole windows, or to get the paper's model.
    result_cost : float, default 0.0
        Work to produce one result, in comparisons.

    Notes
    -----
    *Source.* Sections 4.1 to 4.3 of [1]_.

    *Symbols.* ``rates`` lambda_i, ``windows`` w_i, ``orders`` R_i, ``selectivities``
    sigma, ``scores`` p_ij^k, ``results`` O(1), ``work`` C(1). In ``directions``,
    ``rows`` is S_ij / n and ``growth`` P_ij sigma S_ij.

    *Departures.* The paper divides the scores of each direction by their sum and has
    one selectivity for both directions of two streams. A direction whose matches all
    lie outside of the windows then seems to yield results. Here, either scores are
    shares of all matches, or selectivities are given by direction. In both cases such a
    direction yields nothing. The paper's work has no ``result_cost``.

    *Guarantee.* Results and work are expectations in the steady state, if hops are
    independent.

    *Cost.* O(m^2 n log n) for n basic windows, once.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> from shedjoin.plan import flat_scores
    >>> load = HarvestLoad(
    ...     rates=[10, 20, 30],
    ...     windows=[10, 10, 10],
    ...     orders=[[1, 2], [2, 0], [1, 0]],
    ...     selectivities=[[0, 0.01, 0.02], [0.01, 0, 0.005], [0.02, 0.005, 0]],
    ...     scores=flat_scores([2, 2, 2]),
    ... )
    >>> round(load.work, 6), round(load.results, 6)
    (26000.0, 210.0)
    """

    rates: Numbers
    windows: Numbers
    orders: Sequence[Sequence[int]]
    selectivities: Sequence[Numbers]
    scores: Sequence[Sequence[Numbers]]
    normalise: bool = False
    result_cost: float = 0.0
    directions: tuple[Direction, ...] = field(init=False, repr=False)
    results: float = field(init=False, repr=False)
    work: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rates, windows = numbers("rates", self.rates), numbers("windows", self.windows)
        if rates.size < 2:  # noqa: PLR2004 - a join has two streams at least
            raise ParameterError(
                f"rates={self.rates!r} has one stream: there is nothing to join.",
                fix="pass the rates of two or more streams, e.g. rates=[10, 20, 30].",
            )
        for name in ("windows", "orders", "selectivities", "scores"):
            _one_each(name, len(getattr(self, name)), rates.size)
        not_negative("result_cost", self.result_cost)
        with np.errstate(over="ignore"):  # refused below: work is infinite
            stored = rates * windows
        directions = tuple(
            self._direction(i, rate, stored) for i, rate in enumerate(rates.tolist())
        )
        full = [direction.predicted(direction.whole) for direction in directions]
        results, work = (sum(column) for column in zip(*full, strict=True))
        if not work < np.inf:
            raise ParameterError(
                f"rates={self.rates!r} and windows={self.windows!r} make more work "
                "than a number can hold.",
                fix="pass smaller rates or windows.",
            )
        orders = tuple(tuple(int(stream) for stream in order) for order in self.orders)
        object.__setattr__(self, "orders", orders)
        object.__setattr__(self, "directions", directions)
        object.__setattr__(self, "results", results)
        object.__setattr__(self, "work", work)

    @classmethod
    def measured(
        cls,
        directions: Sequence[Direction],
        orders: Sequence[Sequence[int]],
        result_cost: float = 0.0,
    ) -> HarvestLoad:
        """Make a load from directions that were measured.

        Rows and growth are given by direction and hop, so ``windows``,
        ``selectivities`` and ``scores`` stay empty.
        """
        load = object.__new__(cls)
        full = [direction.predicted(direction.whole) for direction in directions]
        facts = {
            "rates": [direction.rate for direction in directions],
            **dict.fromkeys(("windows", "selectivities", "scores"), ()),
            "normalise": False,
            "orders": tuple(map(tuple, orders)),
            "result_cost": result_cost,
            "directions": tuple(directions),
            "results": sum(found.results for found in full),
            "work": sum(found.work for found in full),
        }
        for name, value in facts.items():
            object.__setattr__(load, name, value)
        return load

    def _direction(self, i: int, rate: float, stored: FloatArray) -> Direction:
        order = _checked_order(i, list(self.orders[i]), stored.size)
        _one_each(f"selectivities[{i}]", len(self.selectivities[i]), stored.size)
        _one_each(f"scores[{i}]", len(self.scores[i]), stored.size)
        rows, growth, ranked = [], [], []
        for stream in order:
            scores = numbers(f"scores[{i}][{stream}]", self.scores[i][stream])
            self._same_count(i, stream, scores.size)
            share = as_share(
                f"selectivities[{i}][{stream}]", float(self.selectivities[i][stream])
            )
            ranks = ranking(scores)
            reached = self._reached(f"scores[{i}][{stream}]", scores[ranks])
            kept = float(stored[stream])
            rows.append(kept / scores.size)
            growth.append(tuple(part * share * kept for part in reached))
            ranked.append(tuple(ranks.tolist()))
        return Direction(
            rate, tuple(rows), tuple(growth), tuple(ranked), self.result_cost
        )

    def _same_count(self, i: int, stream: int, count: int) -> None:
        """Check that all directions cut a window into equally many basic windows."""
        first = 1 if stream == 0 else 0
        expected = len(self.scores[first][stream])
        if count != expected:
            raise ParameterError(
                f"scores[{i}][{stream}] has {count} basic windows and "
                f"scores[{first}][{stream}] has {expected}.",
                fix="cut the window of a stream into as many for every direction.",
            )

    def _reached(self, name: str, scores: FloatArray) -> list[float]:
        """Share of the matches in the n best basic windows, for each n."""
        with np.errstate(over="ignore"):  # refused below
            reached = [0.0, *np.cumsum(scores).tolist()]
        total = reached[-1]
        if self.normalise and total < np.inf:
            return [part / total if total > 0 else 0.0 for part in reached]
        if total > _WHOLE:
            raise ParameterError(
                f"{name} sum to {total:g}, but are shares of all matches.",
                fix="pass shares that sum to 1 at most, or normalise=True for scores "
                "in another unit with a finite sum.",
            )
        return reached


def join_orders(selectivities: Sequence[Numbers]) -> tuple[tuple[int, ...], ...]:
    """Orders in which each stream meets the others: the lowest selectivity first [1]_.

    Parameters
    ----------
    selectivities : sequence of sequences of float
        As for ``HarvestLoad``.

    Returns
    -------
    tuple of tuples of int
        The other streams, counted from 0, for each stream. If selectivities are equal,
        the lower number comes first.

    Notes
    -----
    *Source.* Section 5.3 of [1]_.

    *Guarantee.* None: a heuristic. Any stream may follow any other.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> join_orders([[0, 0.01, 0.02], [0.01, 0, 0.005], [0.02, 0.005, 0]])
    ((1, 2), (2, 0), (1, 0))
    """
    columns = [
        numbers(f"selectivities[{i}]", row) for i, row in enumerate(selectivities)
    ]
    for i, column in enumerate(columns):
        _one_each(f"selectivities[{i}]", column.size, len(columns))
    return tuple(
        tuple(stream for stream in ranking(-column).tolist() if stream != i)
        for i, column in enumerate(columns)
    )


def _one_each(name: str, length: int, streams: int) -> None:
    if length != streams:
        raise ParameterError(
            f"{name} has {length} entries for {streams} streams.",
            fix=f"pass one entry for each stream in {name}.",
        )


def _checked_order(i: int, order: list[int], streams: int) -> list[int]:
    others = [stream for stream in range(streams) if stream != i]
    if sorted(order) != others:
        raise ParameterError(
            f"orders[{i}]={order!r} is not an order of the other streams.",
            fix=f"name each of them once, e.g. orders[{i}]={others!r}.",
        )
    return order
