"""Computes the share of its work that an overloaded join should do."""

from __future__ import annotations

from shedjoin.errors import ParameterError
from shedjoin.plan.model import not_negative

_LEAST = 0.001
"""Least share: a share of 0 would stay 0 for good."""


def throttle_share(
    share: float, *, consumed: float, arrived: float, boost: float = 1.2
) -> float:
    """Next share of the work, given the rows that arrived and that were joined [1]_.

    Parameters
    ----------
    share : float
        The present share, above 0 and at most 1. The first share is 1.
    consumed, arrived : float
        Rows per time unit, over all streams, that the join processed, and that arrived.
    boost : float, default 1.2
        Factor above 1 by which the share rises when the join keeps up.

    Returns
    -------
    float
        The next share, from 0.001 to 1.

    Notes
    -----
    *Source.* Section 3.1 of [1]_.

    *Symbols.* ``share`` is z, ``consumed`` is the sum of alpha_i, ``arrived`` is the
    sum of lambda'_i, and ``boost`` is gamma.

    *Departures.* The paper's text multiplies r by gamma where z is meant. It does not
    say what happens if no row arrived. Here the join then counts as keeping up. The
    share is never below 0.001. In the paper, the share becomes 0 when the join has
    processed no row, and stays 0.

    *Guarantee.* None. The share follows the rates with a delay of one step.

    *Cost.* O(1).

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> throttle_share(1.0, consumed=300, arrived=600)
    0.5
    >>> throttle_share(0.5, consumed=600, arrived=600)
    0.6
    """
    if not 0 < share <= 1:
        raise ParameterError(
            f"share={share!r} is not above 0 and at most 1.",
            fix="start with share=1.0, and then pass the one before.",
        )
    if not 1 < boost < float("inf"):
        raise ParameterError(
            f"boost={boost!r} is not a finite factor above 1.",
            fix="pass a factor by which the share may rise, e.g. boost=1.2.",
        )
    not_negative("consumed", consumed)
    not_negative("arrived", arrived)
    if consumed < arrived:
        return max(_LEAST, share * consumed / arrived)
    return min(1.0, boost * share)
