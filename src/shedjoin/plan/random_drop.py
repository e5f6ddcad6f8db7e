"""Shedding of a join of several streams by dropping arrivals at random."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize

from shedjoin.plan.harvest_load import HarvestLoad
from shedjoin.plan.model import FITS, FloatArray, not_negative


@dataclass(frozen=True, slots=True)
class RandomDrop:
    """Chances of the arrivals of each stream, and what the join yields with them.

    ``chances[i]`` is the probability with which an arrival of stream i takes part; the
    others are dropped before they probe or are stored. ``results`` and ``work`` are per
    time unit.

    Examples
    --------
    >>> RandomDrop((1.0, 0.5), results=30.0, work=250.0, recall=0.5).chances
    (1.0, 0.5)
    """

    chances: tuple[float, ...]
    results: float
    work: float
    recall: float


def equal_drop(work: float, load: HarvestLoad) -> RandomDrop:
    """Drop the same share of the arrivals of every stream, as few as the work allows.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in comparisons.
    load : HarvestLoad
        The join. Arrivals are dropped at random, whatever the age of their matches. So
        it does not matter how ``load.scores`` distributes matches over the basic
        windows, only what they add up to.

    Returns
    -------
    RandomDrop
        The chance to take part, the same for all streams.

    Notes
    -----
    *Source.* None. It is the simplest shedding, used for comparison.

    *Guarantee.* All of the work is used. ``random_drop`` never finds fewer results.

    *Cost.* O(m^2) for m streams, in each of some dozen iterations.

    Examples
    --------
    >>> from shedjoin.plan import flat_scores
    >>> load = HarvestLoad([10, 20], [10, 10], [[1], [0]], [[0, 0.1], [0.1, 0]],
    ...                    flat_scores([2, 4]))
    >>> [round(chance, 9) for chance in equal_drop(load.work / 4, load).chances]
    [0.5, 0.5]
    """
    not_negative("work", work)
    streams = len(load.directions)
    if work == 0 or load.work <= work * FITS:
        chance = 1.0 if load.work <= work * FITS else 0.0
        return _predicted(_terms(load), load, np.full(streams, chance))
    terms = _terms(load)
    return _predicted(terms, load, _filled(work, terms, np.zeros(streams)))


def random_drop(work: float, load: HarvestLoad) -> RandomDrop:
    """Drop arrivals of each stream so that as many results as possible are found [1]_.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in comparisons.
    load : HarvestLoad
        The join. Arrivals are dropped at random, whatever the age of their matches. So
        it does not matter how ``load.scores`` distributes matches over the basic
        windows, only what they add up to.

    Returns
    -------
    RandomDrop
        The chance of each stream to take part.

    Notes
    -----
    *Source.* RandomDrop, with which section 6.2 of [1]_ compares window harvesting.
    [1]_ takes the chances from another framework and does not state the problem. Here
    results and work are those of ``HarvestLoad``.

    *Guarantee.* Optimal up to the tolerance of the search. A result has a row of each
    stream. So the number of results is that of the whole join times the product of all
    chances. Work is a sum of products of chances. If both are written in the logarithms
    of the chances, the objective is linear and the constraint is convex.

    *Cost.* O(m^3) for m streams, in each of some dozen iterations.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    All work involves the second stream, so only that stream is thinned:

    >>> from shedjoin.plan import flat_scores
    >>> load = HarvestLoad(
    ...     rates=[10, 20, 30],
    ...     windows=[10, 10, 10],
    ...     orders=[[1, 2], [2, 0], [1, 0]],
    ...     selectivities=[[0, 0.01, 0.02], [0.01, 0, 0.005], [0.02, 0.005, 0]],
    ...     scores=flat_scores([2, 2, 2]),
    ... )
    >>> best = random_drop(0.5 * load.work, load)
    >>> [round(chance, 3) for chance in best.chances], round(best.results, 2)
    ([1.0, 0.5, 1.0], 105.0)
    >>> round(equal_drop(0.5 * load.work, load).results, 2)
    89.13
    """
    equal = equal_drop(work, load)
    if not 0 < equal.results < load.results:
        return equal
    terms = _terms(load)

    def shares(logs: FloatArray) -> FloatArray:
        """Terms of the work, as parts of what is allowed; their sum is at most 1."""
        return np.asarray(terms.work * np.exp(terms.streams @ logs) / work)

    found = minimize(
        lambda logs: -logs.sum(),
        x0=np.log(equal.chances),
        jac=lambda logs: np.full(logs.size, -1.0),
        bounds=[(None, 0.0)] * len(equal.chances),
        constraints={
            "type": "ineq",
            "fun": lambda logs: -log(shares(logs).sum()),
            "jac": lambda logs: -(shares(logs) @ terms.streams) / shares(logs).sum(),
        },
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 200},
    )
    if not np.isfinite(found.x).all():
        return equal
    best = _predicted(terms, load, _filled(work, terms, np.minimum(found.x, 0.0)))
    return best if best.results > equal.results else equal


class _Terms(NamedTuple):
    """Terms of the work of the whole join, and the streams that each depends on."""

    work: FloatArray
    streams: FloatArray


def _terms(load: HarvestLoad) -> _Terms:
    work = [load.result_cost * load.results]
    streams = [np.ones(len(load.directions))]
    for i, (direction, order) in enumerate(
        zip(load.directions, load.orders, strict=True)
    ):
        partial = direction.rate
        met = np.zeros(len(load.directions))
        met[i] = 1.0
        for stream, rows, growth in zip(
            order, direction.rows, direction.growth, strict=True
        ):
            met[stream] = 1.0
            work.append(partial * rows * (len(growth) - 1))
            streams.append(met.copy())
            partial *= growth[-1]
    return _Terms(np.array(work), np.array(streams))


def _filled(work: float, terms: _Terms, logs: FloatArray) -> FloatArray:
    """Chances in given proportions, at most 1 each, that use all of the work."""

    def shifted(by: float) -> FloatArray:
        return np.minimum(logs + by, 0.0)

    def excess(by: float) -> float:
        return log(float(terms.work @ np.exp(terms.streams @ shifted(by))) / work)

    # Every term is a product of at least two chances. So the work fits if each chance
    # is below sqrt(work / work without drops). ``root`` is its logarithm.
    root = log(work / float(terms.work.sum())) / 2
    by = brentq(excess, root - logs.max() - 1e-6, -logs.min() + 1e-6, xtol=1e-14)
    return np.asarray(np.exp(shifted(by)))


def _predicted(terms: _Terms, load: HarvestLoad, chances: FloatArray) -> RandomDrop:
    share = float(np.prod(chances))
    products = np.prod(np.where(terms.streams > 0, chances, 1.0), axis=1)
    recall = share if load.results > 0 else 1.0
    return RandomDrop(
        tuple(chances.tolist()),
        results=load.results * share,
        work=float(terms.work @ products),
        recall=recall,
    )
