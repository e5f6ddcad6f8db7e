"""Recall against memory: what a join would find with other budgets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.models.words import Shape, reals
from shedjoin.types import FloatArray, IntArray

FACTORS: FloatArray = np.outer(2.0 ** np.arange(-6, 3), [1, np.sqrt(2)]).ravel()[:-1]
"""Memories that are compared, in multiples of the whole budget."""
LEVELS = FACTORS.size
WHOLE = FACTORS.tolist().index(1.0)
"""Index of the whole budget in ``FACTORS``."""
_QUICKLY = 4
"""Results fade this many times as fast as the counts of keys, because the recall may
change within a window."""


class RecallCurve:
    """Results found with each memory, as sums that fade within a window.

    Parameters
    ----------
    room : sequence of arrays
        Arrays of the shapes that :meth:`shapes` gives.
    """

    @staticmethod
    def shapes() -> tuple[Shape, ...]:
        """Shapes of the arrays: results by level, part in force, measured results."""
        return (LEVELS + 1,), (1,), (2,)

    def __init__(self, room: Sequence[IntArray]) -> None:
        self._sums, self._in_force, self._measured = map(reals, room)

    @property
    def in_force(self) -> float:
        """Part of the whole budget that is in force."""
        return float(self._in_force[0]) or 1.0

    @in_force.setter
    def in_force(self, factor: float) -> None:
        if factor != self._in_force[0]:
            self._measured[:] = 0.0  # the results were measured with another part
        self._in_force[0] = factor

    @property
    def is_known(self) -> bool:
        """Whether any result was counted."""
        return bool(self._sums[LEVELS] > 0.0)

    def begin(self) -> None:
        """Reset all sums; the whole budget is in force."""
        self._sums[:] = 0.0
        self._in_force[0] = 0.0
        self._measured[:] = 0.0

    def fade(self, fade: float) -> None:
        """Reduce the weight of earlier sums."""
        self._sums *= fade**_QUICKLY
        self._measured *= fade**_QUICKLY

    def measure(self, emitted: float, exact: float) -> None:
        """Add results emitted with the part in force, and results of the exact join."""
        self._measured += emitted, exact

    def add(self, counted: FloatArray) -> None:
        """Add results of the miniature, by level and in total."""
        self._sums += counted

    def recalls(self, factors: Sequence[float]) -> FloatArray:
        """Recall with each multiple of the whole budget.

        >>> curve = RecallCurve([np.zeros(each, int) for each in RecallCurve.shapes()])
        >>> curve.add(np.append(100 * FACTORS.clip(0, 1), 100.0))
        >>> curve.recalls([0.25, 1.0]).round(2).tolist()
        [0.25, 1.0]
        """
        return np.interp(factors, FACTORS, self._recalls())

    def factor_for(self, recall: float) -> float:
        """Least part of the whole budget that keeps a recall; 1 at most.

        Only results of the miniature are used. Measured results react late, because
        rows that were evicted under another part are still missed. With them, the part
        would oscillate.

        >>> curve = RecallCurve([np.zeros(each, int) for each in RecallCurve.shapes()])
        >>> curve.add(np.append(100 * FACTORS.clip(0, 1), 100.0))
        >>> round(curve.factor_for(0.6), 2)
        0.6
        """
        if not self.is_known:
            return 1.0
        kept = self._sampled()
        level = int(np.searchsorted(kept, recall))
        if level in (0, LEVELS):
            return float(min(FACTORS[min(level, LEVELS - 1)], 1.0))
        part = (recall - kept[level - 1]) / (kept[level] - kept[level - 1])
        factor = FACTORS[level - 1] + part * (FACTORS[level] - FACTORS[level - 1])
        return float(min(factor, 1.0))

    def _sampled(self) -> FloatArray:
        """Recall of the miniature by level, made non-decreasing in memory."""
        sums = self._sums[:LEVELS] / self._sums[LEVELS]
        found: FloatArray = np.maximum.accumulate(sums)
        return found

    def _recalls(self) -> FloatArray:
        """Recall by level, made non-decreasing in memory.

        The curve of the miniature is adjusted to the recall that is measured with the
        part in force. Up to this part, recalls are multiplied by a factor. Above this
        part, missing shares (1 - recall) are multiplied by another factor.
        """
        found = self._sampled()
        emitted, exact = self._measured.tolist()
        sampled = float(np.interp(self.in_force, FACTORS, found))
        if exact <= 0.0 or not 0.0 < sampled < 1.0:
            return found
        known = min(max(emitted / exact, 0.0), 1.0)
        less, more = found * (known / sampled), (1 - known) / (1 - sampled)
        moved = np.where(self.in_force >= FACTORS, less, 1 - (1 - found) * more)
        return np.maximum.accumulate(moved.clip(0.0, 1.0))
