"""Basic windows that a harvest does not need in memory."""

from __future__ import annotations

from shedjoin.plan.harvest import Harvest, selected_windows
from shedjoin.plan.harvest_load import HarvestLoad


def kept_windows(load: HarvestLoad, harvest: Harvest) -> tuple[int, ...]:
    """How many basic windows of each stream, the youngest ones, a harvest needs [1]_.

    Parameters
    ----------
    load : HarvestLoad
        The join.
    harvest : Harvest
        How many basic windows of each hop it harvests.

    Returns
    -------
    tuple of int
        For each stream. No direction selects an older basic window, so its rows could
        be dropped. Younger ones that are not selected now are needed when their rows
        are older.

    Notes
    -----
    *Source.* Memory load shedding, section 7 of [1]_.

    *Symbols.* B_ij with j above the number for stream i is in the list of the paper.

    *Departures.* A formula only: the operator keeps all rows until they expire. Rows
    that were dropped would be missing as soon as a harvest selects older basic windows,
    and until a window later. Arrivals that are learned from, which are compared with
    all rows, would not find at which greater ages rows match. And a throttle that opens
    again would not find all results.

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
