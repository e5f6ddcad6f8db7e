"""How many basic windows a join of several streams harvests, and what that yields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from shedjoin.errors import ParameterError
from shedjoin.plan.harvest_load import HarvestLoad
from shedjoin.plan.model import FITS, as_share, not_negative

Counts: TypeAlias = tuple[tuple[int, ...], ...]
"""Numbers of basic windows, by direction and hop."""


@dataclass(frozen=True, slots=True)
class Harvest:
    """Basic windows that each direction joins, and what the join yields with them.

    At hop j, arrivals of stream i join the ``counts[i][j]`` best basic windows. A
    stream whose counts are all 0 does not probe. ``chance`` is the probability with
    which an arrival probes at all. It is 1 unless the allowed work is too little for
    whole basic windows. ``results`` and ``work`` are per time unit.

    Examples
    --------
    >>> Harvest(((1,), (0,)), chance=1.0, results=30.0, work=250.0, recall=0.5).counts
    ((1,), (0,))
    """

    counts: Counts
    chance: float
    results: float
    work: float
    recall: float


def predicted_harvest(
    load: HarvestLoad, counts: Sequence[Sequence[int]], *, chance: float = 1.0
) -> Harvest:
    """Predict results and work of a join, given how much it harvests [1]_.

    Parameters
    ----------
    load : HarvestLoad
        The join.
    counts : sequence of sequences of int
        Number of basic windows that are joined, by direction and hop; all 0 for a
        direction whose arrivals do not probe.
    chance : float, default 1.0
        Probability with which an arrival probes at all.

    Returns
    -------
    Harvest
        What the join yields.

    Notes
    -----
    *Source.* Section 4.3 of [1]_.

    *Symbols.* ``counts`` z_ij n, ``results`` O, ``work`` C.

    *Departures.* The paper has no ``chance``.

    *Guarantee.* As for ``HarvestLoad``.

    *Cost.* O(m^2) for m streams.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> from shedjoin.plan import flat_scores
    >>> load = HarvestLoad([10, 20], [10, 10], [[1], [0]], [[0, 0.1], [0.1, 0]],
    ...                    flat_scores([2, 4]))
    >>> found = predicted_harvest(load, [[1], [2]])
    >>> found.results, found.work, found.recall
    (250.0, 2500.0, 0.625)
    """
    as_share("chance", chance)
    if len(counts) != len(load.directions):
        raise ParameterError(
            f"counts={counts!r} is not for {len(load.directions)} directions.",
            fix="pass the counts of each direction, all 0 where it is off.",
        )
    results = work = 0.0
    checked = []
    for i, direction in enumerate(load.directions):
        hops = tuple(counts[i])
        limits = direction.whole
        if len(hops) != len(limits) or any(
            count not in range(limit + 1)
            for count, limit in zip(hops, limits, strict=True)
        ):
            raise ParameterError(
                f"counts[{i}]={hops!r} are not counts of {limits!r} basic windows.",
                fix=f"pass one count for each hop, at most counts[{i}]={limits!r}.",
            )
        found = direction.predicted(hops)
        results += found.results
        work += found.work
        checked.append(tuple(int(count) for count in hops))
    results, work = chance * results, chance * work
    recall = min(1.0, results / load.results) if load.results > 0 else 1.0
    return Harvest(tuple(checked), chance, results, work, recall)


def whole_harvest(load: HarvestLoad) -> Harvest:
    """Harvest all basic windows, so that nothing is shed.

    Examples
    --------
    >>> from shedjoin.plan import flat_scores
    >>> load = HarvestLoad([1, 1], [2, 2], [[1], [0]], [[0, 1], [1, 0]],
    ...                    flat_scores([2, 2]))
    >>> whole_harvest(load).counts
    ((2,), (2,))
    """
    return predicted_harvest(load, [direction.whole for direction in load.directions])


def harvest_by_chance(work: float, load: HarvestLoad) -> Harvest:
    """Plan for very little work: some arrivals of the most productive stream probe.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in comparisons.
    load : HarvestLoad
        The join.

    Returns
    -------
    Harvest
        Basic windows of the direction with the most results per work. Its arrivals
        probe with the probability ``chance``. Arrivals of other streams do not probe.

    Notes
    -----
    *Source.* None. [1]_ finds no harvest if one basic window of each hop is too much
    work. The other searches call this function in that case.

    *Guarantee.* No other counts of any direction have more results per work. So results
    are 0 only if no work is allowed or if the whole join has no results.

    *Cost.* O(m^2 n) for m streams with n basic windows, for each of a few iterations.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> from shedjoin.plan import flat_scores
    >>> load = HarvestLoad([10, 20], [10, 10], [[1], [0]], [[0, 0.2], [0.1, 0]],
    ...                    flat_scores([2, 4]))
    >>> found = harvest_by_chance(50, load)
    >>> found.counts, found.chance, found.results
    (((1,), (0,)), 0.1, 10.0)
    """
    not_negative("work", work)
    best, most = -1, 0.0
    counts: tuple[int, ...] = ()
    for i, direction in enumerate(load.directions):
        tried = direction.best_ratio()
        found = direction.predicted(tried)
        if found.work > 0 and found.results / found.work > most:
            best, most, counts = i, found.results / found.work, tried
    off = [(0,) * len(direction.rows) for direction in load.directions]
    if best < 0:
        return predicted_harvest(load, off)
    cost = load.directions[best].predicted(counts).work
    chance = 1.0 if cost <= work * FITS else work / cost
    return predicted_harvest(
        load, [*off[:best], counts, *off[best + 1 :]], chance=chance
    )


def selected_windows(
    load: HarvestLoad, harvest: Harvest
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Basic windows that a harvest joins, by direction and hop [1]_.

    Parameters
    ----------
    load : HarvestLoad
        The join.
    harvest : Harvest
        How many basic windows of each hop are joined.

    Returns
    -------
    tuple of tuples of tuples of int
        Numbers of the basic windows with the best scores, in ascending order. Number 0
        has the youngest rows. Basic window k holds the rows of ages from k to k + 1
        times its length.

    Notes
    -----
    *Source.* Sections 4.1.2 and 4.2.1 of [1]_: the first ranks s_ij^k.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> scores = [[[], [0.1, 0.5, 0.4]], [[0.7, 0.2, 0.1], []]]
    >>> load = HarvestLoad([1, 1], [3, 3], [[1], [0]], [[0, 1], [1, 0]], scores)
    >>> selected_windows(load, predicted_harvest(load, [[2], [1]]))
    (((1, 2),), ((0,),))
    """
    return tuple(
        tuple(
            tuple(sorted(ranked[:count]))
            for ranked, count in zip(direction.ranked, hops, strict=True)
        )
        for direction, hops in zip(load.directions, harvest.counts, strict=True)
    )
