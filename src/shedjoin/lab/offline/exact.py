"""The best subset of the matches of archived streams, by trying all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.lab.offline.graph import MatchGraph, Subset
from shedjoin.lab.plan import Costs
from shedjoin.plan.model import FITS, not_negative
from shedjoin.types import BoolArray, IntArray

_MOST_ROWS = 20
"""Limit of the rows of one component; every set of them is tried."""


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
    """Choose most matches among those that an amount of work suffices for [1]_.

    Parameters
    ----------
    work : float
        Work that may be done for the whole archive, in the unit of the costs.
    graph : MatchGraph
        All matches; at most 20 rows of both streams in each component.
    costs : Costs
        Work of an insertion and of a match.
    induced : bool, default False
        Whether rows are kept with all matches among them, or dropped.

    Returns
    -------
    Subset
        The matches that are kept; the first subset found if several are best.

    Notes
    -----
    *Source.* Definition 5 of [1]_, and Definition 6 when ``induced``.

    *Symbols.* ``work`` K, ``costs.update`` C_u, ``costs.match`` C_p, ``Subset.work``
    F(G').

    *Departures.* The work may be used up: F(G') <= K as in the definitions, while the
    text asks for less than K. Definition 6 misplaces the parenthesis in it. Every row
    of a match counts as stored, as in the paper. Schemes that let rows probe without
    storing them, such as ``plan.value_probe_no_insert``, do less work per match, and
    may find more.

    *Guarantee.* Exact.

    *Cost.* O(2**r) for the largest component, of r rows. Then O(r m) for each
    component, with m matches in all.

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
        If True, all sets that differ in rows or matches. Otherwise one set with the
        most matches for each number of rows, since matches can be left out.

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
    """Rows and matches with one more component, and the pair that each is from."""
    rows = np.add.outer(rows, options.rows).ravel()
    matches = np.add.outer(matches, options.matches).ravel()
    pairs = _distinct(rows, matches, induced=induced)
    return rows[pairs], matches[pairs], pairs


def _distinct(rows: IntArray, matches: IntArray, *, induced: bool) -> IntArray:
    """Indices of distinct (rows, matches), or of the most matches for each rows."""
    order: IntArray = np.lexsort((matches, rows))
    differs = np.diff(rows[order]) > 0
    if induced:
        differs |= np.diff(matches[order]) > 0
    places: IntArray = order[np.append(differs, [True])]
    return places


def _affordable(
    work: float, rows: IntArray, matches: IntArray, costs: Costs, *, induced: bool
) -> IntArray:
    """Matches that can be produced for each set of rows; -1 if the rows do not fit."""
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
    """Flags of the matches whose rows are both chosen."""
    left, right, left_rows, _ = component.places()
    kept: BoolArray = ((chosen >> left) & (chosen >> (right + left_rows)) & 1) > 0
    return kept
