"""How far the arrivals of a sample are behind the clock, and what that may cost.

By the clock of shedding, the time of a row is over if no arrival at or after the clock
could match it. Such rows are shed first. An arrival that is behind the clock, but not
late by the watermark, may still match them. A row that was shed by its time alone had
no chance to be in the sample, so no weight accounts for it.

A sample therefore has a *slack*. Until a row's time has been over for longer than the
slack, the row is shed by its score only, and the weights of its results are exact. The
slack is the declared lateness, or the greatest distance of an arrival behind the clock
so far if that is more. Without lateness, and while all rows come in order, the slack is
zero, and no memory is spent on rows whose time is over.

If an arrival is further behind than declared, and further than all arrivals before it,
it raises the slack. Rows that the new slack would have kept may have been shed already.
*Forgotten* is the time up to which rows were shed by the clock. Results of arrivals
before that time are in doubt.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.kernels.round import LAGS
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import Records

_LONG_AGO = -(1 << 62)


def no_lags() -> Records:
    """Lags before any arrival: no slack, and nothing is forgotten."""
    return np.array([(0, _LONG_AGO)], LAGS)


def lags_of(spec: JoinSpec) -> Records:
    """Lags of a join before any arrival; only a sample has a slack."""
    lags = no_lags()
    if spec.samples:
        lags["slack"] = spec.lateness_us + spec.lag_us
    return lags


def restore_lags(lags: Records, stored: Sequence[int]) -> None:
    """Restore the lags of a sample as they were stored.

    If the stored slack is shorter than the lateness, the lateness becomes the slack.
    """
    slack, forgotten = stored
    lags["slack"] = max(int(lags["slack"][0]), slack)
    lags["forgotten"] = forgotten
