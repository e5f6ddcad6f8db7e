"""Measures how evenly a join has kept its arrivals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shedjoin.errors import ParameterError


def jain(lifetimes: npt.ArrayLike) -> float:
    """Jain's index of fairness of the lifetimes of arrivals.

    It is 1 if all lifetimes are equal, and 1/n if only one of n arrivals was kept.

    Parameters
    ----------
    lifetimes : array_like
        How long each arrival was kept in memory, in any unit: until it was shed, it
        expired, or the run ended. For an arrival that was never kept, it is 0.

    Returns
    -------
    float
        ``sum(x)**2 / (n * sum(x**2))``. If all lifetimes are 0, or there are none, it
        is 1.0.

    Notes
    -----
    *Source.* The index of [1]_ over the lifetimes of [2]_, section 5.

    *Departures.* None known. The numbers of [2]_ are reproduced only if arrivals that
    were never kept are included. Without them, a join that keeps its first tuples
    forever would count as fair.

    *Cost.* O(n).

    References
    ----------
    .. [1] R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and
       Discrimination for Resource Allocation in Shared Computer Systems", 1984.
    .. [2] D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-Aware Join Approximation
       over Data Streams", SSDBM 2008.

    Examples
    --------
    >>> jain([5, 5, 5, 0])
    0.75
    >>> jain([0, 0, 0])
    1.0
    """
    column = np.asarray(lifetimes, dtype=np.float64).ravel()
    if not (np.isfinite(column) & (column >= 0)).all():
        raise ParameterError(
            "lifetimes holds negative numbers or numbers that are not finite.",
            fix="pass how long each arrival stayed, 0 for those that never entered.",
        )
    longest = column.max(initial=0.0)
    if longest <= 0:
        return 1.0
    column = column / longest  # squares neither overflow nor vanish
    return float(column.sum() ** 2 / (column.size * np.square(column).sum()))
