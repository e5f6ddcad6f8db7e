"""Finds the best subset of the matches of archived streams, by trying all subsets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.lab.offline.graph import MatchGraph, Subset
from shedjoin.lab.plan import Costs
from shedjoin.plan.model import FITS, not_negative
from shedjoin.types import BoolArray, IntArray

_MOST_ROWS = 20
"""Limit of the rows of one component, because every set of them is tried."""


class Choices(NamedTuple):
    """Sets of rows of one component, with the numbers of rows and of their matches.

    ``chosen`` has a bit for each row. Rows of the left stream come first.
    """

    rows: IntArray
    matches: IntArray
    chosen: IntArray


def max_subset(
    work: float, graph: MatchGraph, *, costs: Costs, induced: bool = False
) -> Subset:
    """Choose as many matches as possible within an amount of work [1]_.

    Parameters
    ----------
    work : float
        Work that may be done for the whole archive, in the unit of the costs.
    graph : MatchGraph
        All matches; at most 20 rows of both streams in each component.
    costs : Costs
        Work of an insertion and of a match.
    induced : bool, default False
        Whether all matches between two kept rows must be kept.

    Returns
    -------
    Subset
        The matches that are kept. If several subsets are best, it is the first found.

    Notes
    -----
    *Source.* Definition 5 of [1]_, and Definition 6 when ``induced``.

    *Symbols.* ``work`` is K, ``costs.update`` is C_u, ``costs.match`` is C_p, and
    ``Subset.work`` is F(G').

    *Departures.* The work may be used up: F(G') <= K, as in the paper's definitions.
    The paper's text asks for less than K. In definition 6, a parenthesis of F is
    misplaced. Both rows of a match count as stored, as in the paper. Schemes in which a
    row can probe without being stored, such as ``plan.value_probe_no_insert``, do less
    work per match. So they may find more matches.

    *Guarantee.* Exact.

    *Cost.* O(2**r) for the largest component, which has r rows. Then O(r m) for each
    component, with m matches in total.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> graph = MatchGraph([0, 0, 1, 1, 2, 3, 4], [0, 1, 0, 1, 2, 2, 2])
    >>> costs = Costs(update=1, match=0.5)
    >>> [max_subset(work, graph, costs=costs).results for work in (4, 6, 8, 10, 12)]
    [2, 4, 4, 6, 7]
    """
    not_negative("work", work)
    component = graph.components()
    parts = [np.flatnonzero(component == number) for number in np.unique(component)]
    steps: list[tuple[IntArray, Choices, IntArray]] = []
    rows = matches = np.zeros(1, dtype=np.int64)
    for part in parts:
        choices = component_choices(graph.part(part), induced=induced)
        rows, matches, pairs = _combined(rows, matches, choices, induced=induced)
        steps.append((part, choices, pairs))
    results = _affordable(work, rows, matches, costs, induced=induced)
    state = int(np.argmax(results))
    most = int(results[state])
    kept = np.zeros(component.size, dtype=np.bool_)
    for part, choices, pairs in reversed(steps):
        state, choice = divmod(int(pairs[state]), choices.rows.size)
        kept[part] = _among(graph.part(part), int(choices.chosen[choice]))
    kept[np.flatnonzero(kept)[most:]] = False
    return graph.subset(kept, costs)


def component_choices(component: MatchGraph, *, induced: bool = False) -> Choices:
    """The sets of rows of one component that can be part of a best subset.

    Parameters
    ----------
    component : MatchGraph
        The matches of at most 20 rows.
    induced : bool, default False
        If True, one set is returned for each number of rows and of matches. Otherwise,
        one set is returned for each number of rows: that with the most matches. It
        suffices, because matches can be left out.

    Returns
    -------
    Choices
        Ordered by rows, then by matches; the empty set is the first.

    Notes
    -----
    *Cost.* O(2**r) time and memory for r rows.

    Examples
    --------
    >>> square = MatchGraph([0, 0, 1, 1], [0, 1, 0, 1])
    >>> component_choices(square).matches.tolist()
    [0, 0, 1, 2, 4]
    """
    left, right, left_rows, right_rows = component.places()
    rows = left_rows + right_rows
    if rows > _MOST_ROWS:
        raise ParameterError(
            f"A component has {rows} rows; all sets of at most {_MOST_ROWS} are tried.",
            fix="use greedy_max_subset, or archives with fewer rows of a key.",
        )
    neighbours = np.zeros(rows, dtype=np.int64)
    np.bitwise_or.at(neighbours, right + left_rows, 1 << left)
    chosen = np.arange(1 << rows)
    matches = np.zeros(chosen.size, dtype=np.int64)
    for row in range(left_rows, rows):
        half = 1 << row
        met = np.bitwise_count(chosen[:half] & neighbours[row])
        matches[half : 2 * half] = matches[:half] + met
    size = np.bitwise_count(chosen).astype(np.int64)
    places = _distinct(size, matches, induced=induced)
    return Choices(size[places], matches[places], chosen[places])


def _combined(
    rows: IntArray, matches: IntArray, options: Choices, *, induced: bool
) -> tuple[IntArray, IntArray, IntArray]:
    """Numbers of rows and matches with one more component, and their origins.

    An origin is a pair of a former number and an option, as one index.
    """
    rows = np.add.outer(rows, options.rows).ravel()
    matches = np.add.outer(matches, options.matches).ravel()
    pairs = _distinct(rows, matches, induced=induced)
    return rows[pairs], matches[pairs], pairs


def _distinct(rows: IntArray, matches: IntArray, *, induced: bool) -> IntArray:
    """Indices of distinct (rows, matches), or of the most matches for each ``rows``."""
    order: IntArray = np.lexsort((matches, rows))
    differs = np.diff(rows[order]) > 0
    if induced:
        differs |= np.diff(matches[order]) > 0
    places: IntArray = order[np.append(differs, [True])]
    return places


def _affordable(
    work: float, rows: IntArray, matches: IntArray, costs: Costs, *, induced: bool
) -> IntArray:
    """Number of matches within the work for each set of rows; -1 if rows do not fit."""
    rest = work * FITS - rows * costs.update
    if costs.match > 0:
        with np.errstate(over="ignore"):
            most = np.floor(rest / costs.match)
        found = np.where(most < matches, -1 if induced else most, matches)
    else:
        found = matches
    results: IntArray = np.where(rest >= 0, found, -1).astype(np.int64)
    return results


def _among(component: MatchGraph, chosen: int) -> BoolArray:
    """For each match, whether both of its rows are chosen."""
    left, right, left_rows, _ = component.places()
    kept: BoolArray = ((chosen >> left) & (chosen >> (right + left_rows)) & 1) > 0
    return kept
