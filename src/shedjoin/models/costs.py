"""What the work of a micro-batch costs in seconds, learned where the query runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_KEPT = 64
_FADE = 0.95
_PRIOR = 0.05
"""How much the typical proportions count, against one micro-batch."""


class Work(NamedTuple):
    """Counts of one micro-batch, over all shards."""

    micro_batches: float
    rows: float
    updates: float
    """Rows stored; of a join by predicates residents looked at."""
    results: float


class Seconds(NamedTuple):
    """Seconds of a micro-batch, of a row, of an update and of a result.

    ``floor`` and ``row`` are what the join cannot save: planning and commits, reading,
    packing and shuffling. ``update`` and ``match`` are C_u and C_p of Ayad et al.
    """

    floor: float
    row: float
    update: float
    match: float

    def of(self, work: Work) -> float:
        """Seconds that some work takes.

        >>> Seconds(0.5, 1e-6, 1e-6, 1e-6).of(Work(1, 100_000, 50_000, 250_000))
        0.9
        """
        return float(np.dot(self, work))

    def unsaved(self, rows: float) -> float:
        """Seconds of a micro-batch of so many rows that no shedding can save."""
        return self.floor + self.row * rows


TYPICAL = Seconds(0.5, 3e-6, 1e-6, 1e-6)
"""Only the proportions matter: they decide while micro-batches are all alike."""

TYPICAL_LOOKS = TYPICAL._replace(update=2e-9)
"""The same where updates are residents that are looked at."""


class Costs:
    """Costs of work, by non-negative least squares over the last micro-batches.

    Errors count relative to the time that was taken, and older micro-batches less.
    Micro-batches in which all counts grow alike do not tell which of them costs what;
    then the proportions of ``prior`` decide.

    Parameters
    ----------
    prior : Seconds
        Typical costs, or those that ``shedjoin calibrate`` has measured.
    looks : bool, default False
        Whether updates are residents looked at. Calibration measures stored rows, so
        their typical cost is taken instead.
    """

    def __init__(self, prior: Seconds = TYPICAL, *, looks: bool = False) -> None:
        if looks:
            prior = prior._replace(update=TYPICAL_LOOKS.update)
        # Never nothing: what was too little to measure is learned as a part of this.
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
        """Give the costs as known now."""
        from scipy.optimize import nnls  # large, and only the driver needs it

        if not self._work:
            return Seconds(*self._prior.tolist())
        work, taken = np.array(self._work), np.array(self._seconds)
        weight = np.sqrt(_FADE ** np.arange(taken.size)[::-1])
        scale = float(np.median(taken / (work @ self._prior)))
        typical = np.diag(_PRIOR / (self._prior * scale))
        rows = np.vstack([work * (weight / taken)[:, None], typical])
        wanted = np.concatenate([weight, np.full(len(typical), _PRIOR)])
        # Columns of one size: seconds of a row are a millionth of those of a batch.
        size = np.linalg.norm(rows, axis=0)
        found, _ = nnls(rows / size, wanted)
        return Seconds(*(found / size).tolist())
