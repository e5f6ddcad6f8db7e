"""Seconds that the work of a micro-batch takes, learned while the query runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_KEPT = 64
_FADE = 0.95
_PRIOR = 0.05
"""Weight of the proportions of the prior costs. A micro-batch has the weight 1."""


class Work(NamedTuple):
    """Counts of one micro-batch, over all shards."""

    micro_batches: float
    rows: float
    updates: float
    """Rows stored; in a join by predicates, comparisons of arrivals with residents."""
    results: float


class Seconds(NamedTuple):
    """Seconds that a micro-batch, a row, an update and a result take.

    Shedding cannot save ``floor`` (planning and commits) and ``row`` (reading, packing
    and shuffling). ``update`` and ``match`` are the costs C_u and C_p of Ayad et al.
    """

    floor: float
    row: float
    update: float
    match: float

    def of(self, work: Work) -> float:
        """Seconds that this work takes.

        >>> Seconds(0.5, 1e-6, 1e-6, 1e-6).of(Work(1, 100_000, 50_000, 250_000))
        0.9
        """
        return float(np.dot(self, work))

    def unsaved(self, rows: float) -> float:
        """Seconds of a micro-batch of ``rows`` rows that shedding cannot save."""
        return self.floor + self.row * rows


TYPICAL = Seconds(0.5, 3e-6, 1e-6, 1e-6)
"""Typical costs. Only their proportions are used (see ``Costs``)."""

TYPICAL_LOOKS = TYPICAL._replace(update=2e-9)
"""Typical costs if an update is the comparison of an arrival with a resident."""


class Costs:
    """Learns the costs of work by non-negative least squares over micro-batches.

    The error of a micro-batch is divided by the time that it took. Older micro-batches
    count less. If all counts grow in proportion, the micro-batches do not show which
    count causes which part of the time. Then the proportions of ``prior`` decide.

    Parameters
    ----------
    prior : Seconds
        Typical costs, or those that ``shedjoin calibrate`` has measured.
    looks : bool, default False
        Whether an update is the comparison of an arrival with a resident, as in joins
        by predicates. Calibration measures only stored rows, so the typical cost of a
        comparison is then used instead.
    """

    def __init__(self, prior: Seconds = TYPICAL, *, looks: bool = False) -> None:
        if looks:
            prior = prior._replace(update=TYPICAL_LOOKS.update)
        # No prior cost may be zero, because costs are learned relative to the prior. A
        # calibrated cost is zero if it was too small to measure.
        least = 1e-3 * np.array(TYPICAL_LOOKS if looks else TYPICAL)
        self._prior = np.maximum(prior, least)
        self._work: list[Work] = []
        self._seconds: list[float] = []

    def observe(self, work: Work, seconds: float) -> None:
        """Learn from a micro-batch."""
        if seconds > 0:
            self._work = [*self._work[1 - _KEPT :], work]
            self._seconds = [*self._seconds[1 - _KEPT :], seconds]

    def seconds(self) -> Seconds:
        """Current estimate of the costs."""
        from scipy.optimize import nnls  # scipy is large, and only the driver needs it

        if not self._work:
            return Seconds(*self._prior.tolist())
        work, taken = np.array(self._work), np.array(self._seconds)
        weight = np.sqrt(_FADE ** np.arange(taken.size)[::-1])
        scale = float(np.median(taken / (work @ self._prior)))
        typical = np.diag(_PRIOR / (self._prior * scale))
        rows = np.vstack([work * (weight / taken)[:, None], typical])
        wanted = np.concatenate([weight, np.full(len(typical), _PRIOR)])
        # The columns are scaled, since a row takes a millionth of the seconds that a
        # micro-batch takes.
        size = np.linalg.norm(rows, axis=0)
        found, _ = nnls(rows / size, wanted)
        return Seconds(*(found / size).tolist())
