"""Computes which basic windows a harvest needs in memory."""

from __future__ import annotations

from shedjoin.plan.harvest import Harvest, selected_windows
from shedjoin.plan.harvest_load import HarvestLoad


def kept_windows(load: HarvestLoad, harvest: Harvest) -> tuple[int, ...]:
    """Number of basic windows of each stream that a harvest needs in memory [1]_.

    Parameters
    ----------
    load : HarvestLoad
        The join.
    harvest : Harvest
        How many basic windows of each hop it harvests.

    Returns
    -------
    tuple of int
        For each stream, this many of the youngest basic windows. No direction selects
        an older one, so its rows could be dropped. Some of the younger ones may not be
        selected now. Their rows are needed later, in older basic windows.

    Notes
    -----
    *Source.* Memory load shedding, section 7 of [1]_.

    *Symbols.* If j is above the number for stream i, B_ij is in the list of the paper.

    *Departures.* This is a formula only. The join keeps all rows until they expire, for
    three reasons. If a later harvest selects older basic windows, dropped rows would be
    missing for the time of a window. Shredded arrivals, which are compared with all
    rows, could not find out whether older rows match. When the throttle opens again,
    results would be missing.

    *Guarantee.* The harvest finds the same results while it does not change.

    *Cost.* O(m^2 n) for m streams with n basic windows.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> from shedjoin.plan import HarvestLoad, predicted_harvest
    >>> scores = [[[], [0.1, 0.5, 0.4]], [[0.7, 0.2, 0.1], []]]
    >>> load = HarvestLoad([1, 1], [3, 3], [[1], [0]], [[0, 1], [1, 0]], scores)
    >>> kept_windows(load, predicted_harvest(load, [[1], [1]]))
    (1, 2)
    """
    kept = [0] * len(load.orders)
    for order, hops in zip(load.orders, selected_windows(load, harvest), strict=True):
        for stream, chosen in zip(order, hops, strict=True):
            kept[stream] = max([kept[stream], *(number + 1 for number in chosen)])
    return tuple(kept)
