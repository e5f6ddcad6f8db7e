"""Results and work of a window join that sheds at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from shedjoin.plan.costs import Costs
from shedjoin.plan.join_load import JoinLoad
from shedjoin.plan.model import as_share

Scheme = Literal["coin_flip", "insert_no_probe", "probe_no_insert"]
"""What arrivals do with a probability: take part at all, probe, or become stored."""


@dataclass(frozen=True, slots=True)
class RandomShedding:
    """Chances of the arrivals of each stream, and what the join yields with them.

    ``left`` and ``right`` are probabilities: of taking part under ``coin_flip``, of
    probing under ``insert_no_probe``, and of being stored under ``probe_no_insert``.
    ``results`` and ``work`` are per time unit.

    Examples
    --------
    >>> RandomShedding(left=1.0, right=0.5, results=30.0, work=1.0, recall=0.75).right
    0.5
    """

    left: float
    right: float
    results: float
    work: float
    recall: float


def predicted_shedding(
    scheme: Scheme, load: JoinLoad, left: float, right: float, *, costs: Costs
) -> RandomShedding:
    """Predict results and work of a join whose arrivals have these chances [1]_.

    Parameters
    ----------
    scheme : {"coin_flip", "insert_no_probe", "probe_no_insert"}
        What arrivals do with these chances: take part, probe, or become stored.
    load : JoinLoad
        The join.
    left, right : float
        Chances of the arrivals of each stream, from 0 to 1.
    costs : Costs
        Work of an insertion and of a match.

    Returns
    -------
    RandomShedding
        The chances, with results, work and recall.

    Notes
    -----
    *Source.* Equations 10 to 15 of [1]_.

    *Symbols.* ``left`` x_L, ``right`` x_R.

    *Departures.* None.

    *Guarantee.* Results and work are expectations in the steady state.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> load = JoinLoad(0.01, 100, 100, left_window=10, right_window=10)
    >>> costs = Costs(update=0.001, match=0.0005)
    >>> [predicted_shedding(scheme, load, 0.5, 1, costs=costs).results
    ...  for scheme in ("coin_flip", "insert_no_probe", "probe_no_insert")]
    [1000.0, 1500.0, 1500.0]
    """
    as_share("left", left)
    as_share("right", right)
    stored = load.left_rate * left + load.right_rate * right
    match scheme:
        case "coin_flip":
            shared = left * right * (load.left_window + load.right_window)
        case "insert_no_probe":
            stored = load.left_rate + load.right_rate
            shared = load.left_window * right + load.right_window * left
        case "probe_no_insert":
            shared = load.left_window * left + load.right_window * right
        case _:  # pragma: no cover
            assert_never(scheme)
    results = load.meetings * shared
    work = stored * costs.update + results * costs.match
    recall = results / load.results if load.results > 0 else 1.0
    return RandomShedding(left, right, results, work, recall)
