"""Finds a good subset of the matches of archived streams of any size."""

from __future__ import annotations

import numpy as np

from shedjoin.lab.offline.graph import MatchGraph, Subset
from shedjoin.lab.plan import Costs
from shedjoin.plan.model import FITS, not_negative
from shedjoin.plan.ratio import by_ratio
from shedjoin.types import BoolArray, IntArray

_DIGITS = 12
"""Costs that agree to this many digits count as equal."""


def greedy_max_subset(work: float, graph: MatchGraph, *, costs: Costs) -> Subset:
    """Keep the components with most matches per work, and a part of the last [1]_.

    Parameters
    ----------
    work : float
        Work that may be done for the whole archive, in the unit of the costs.
    graph : MatchGraph
        All matches.
    costs : Costs
        Work of an insertion and of a match.

    Returns
    -------
    Subset
        The matches that are kept.

    Notes
    -----
    *Source.* Greedy Max-Subset, section 3.2.1 and Figure 1 of [1]_.

    *Symbols.* ``work`` is K, ``costs.update`` is C_u, ``costs.match`` is C_p, and
    ``graph.work`` is F(G). The matches per work are C(G') of equation 4.

    *Departures.* Step 5 takes the matches of the last component in ascending order of
    cost. Figure 1 sorts them in descending order. That keeps the most expensive
    matches, and finds a tenth less. If components are equal, those of the first rows
    are kept.

    *Guarantee.* None, since it is a heuristic. The problem is NP-hard. On window joins
    of twelve rows with a few keys, it finds 99 % of the matches of ``max_subset`` on
    average. If most matches are in one component, it finds fewer: 80 to 90 % if all
    rows of the component match each other.

    *Cost.* O(m log m) for m matches.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> graph = MatchGraph([0, 0, 1, 1, 2, 3, 4], [0, 1, 0, 1, 2, 2, 2])
    >>> greedy_max_subset(10, graph, costs=Costs(update=1, match=0.5)).results
    6
    """
    not_negative("work", work)
    component = graph.components()
    matches, rows = totals(graph, component)
    needed = rows * costs.update + matches * costs.match
    best_first = by_ratio(matches.astype(np.float64), needed)
    total = np.cumsum(needed[best_first])
    whole = int(np.searchsorted(total, work * FITS, side="right"))
    kept = np.isin(component, best_first[:whole])
    if whole < best_first.size:
        rest = max(0.0, work - float(total[whole - 1])) if whole else work
        last = component == best_first[whole]
        kept[last] = cheapest_matches(rest, graph.part(last), costs=costs)
    return graph.subset(kept, costs)


def cheapest_matches(work: float, component: MatchGraph, *, costs: Costs) -> BoolArray:
    """Keep the cheapest matches of one component that fit into some work [1]_.

    Parameters
    ----------
    work : float
        Work that may be done for the component.
    component : MatchGraph
        The matches. There may be several components. Then the cheapest matches of all
        of them come first.
    costs : Costs
        Work of an insertion and of a match.

    Returns
    -------
    BoolArray
        Whether each match is kept.

    Notes
    -----
    *Source.* Equation 3 and step 5 of Figure 1 of [1]_. The cost of a row is divided
    among its matches. So a match is cheap if its rows have many matches. The selection
    ends before the first match that does not fit.

    *Symbols.* C(e) is the cost of a match. u_1 and v_1 are the numbers of matches of
    its rows.

    *Departures.* Matches are taken in ascending order of cost, as in
    ``greedy_max_subset``. If costs are equal, they are taken by left row, then by right
    row.

    *Guarantee.* None, since it is a heuristic.

    *Cost.* O(m log m) for m matches.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> path = MatchGraph([0, 1, 1, 2], [0, 0, 1, 1])
    >>> cheapest_matches(4, path, costs=Costs(update=1, match=0.5)).tolist()
    [False, True, True, False]
    """
    not_negative("work", work)
    left, right, _, _ = component.places()
    share = 1 / np.bincount(left)[left] + 1 / np.bincount(right)[right]
    order = np.lexsort((right, left, np.round(share, _DIGITS)))
    rows = _first(left[order]) + _first(right[order])
    total = np.cumsum(rows * costs.update + costs.match)
    kept = np.zeros(left.size, dtype=np.bool_)
    kept[order[: np.searchsorted(total, work * FITS, side="right")]] = True
    return kept


def totals(graph: MatchGraph, component: IntArray) -> tuple[IntArray, IntArray]:
    """Number of matches and number of rows of each component."""
    matches = np.bincount(component)
    rows = np.zeros_like(matches)
    for ends in graph.ends:
        _, first = np.unique(ends, return_index=True)
        rows += np.bincount(component[first], minlength=matches.size)
    return matches, rows


def _first(rows: IntArray) -> IntArray:
    """1 where a row appears for the first time, else 0."""
    is_first = np.zeros(rows.size, dtype=np.int64)
    is_first[np.unique(rows, return_index=True)[1]] = 1
    return is_first
