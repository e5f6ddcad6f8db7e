"""Recall against memory: what a join would find with a part or a multiple of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.models.words import Shape, reals
from shedjoin.types import FloatArray, IntArray

FACTORS: FloatArray = np.outer(2.0 ** np.arange(-6, 3), [1, np.sqrt(2)]).ravel()[:-1]
"""Memories that are compared: so many times as large as the whole budget."""
LEVELS = FACTORS.size
WHOLE = FACTORS.tolist().index(1.0)
"""The whole budget among them."""
_QUICKLY = 4
"""Results fade so many times as fast as the counts of keys: within a window it may
change what there is to find."""


class RecallCurve:
    """Sums of results over the last part of a window, which fade.

    Parameters
    ----------
    room : sequence of arrays
        Of the shapes that :meth:`shapes` gives.
    """

    @staticmethod
    def shapes() -> tuple[Shape, ...]:
        """Room for results by level, for the part in force, and for the recall."""
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
            self._measured[:] = 0.0  # with another part
        self._in_force[0] = factor

    @property
    def is_known(self) -> bool:
        """Whether any result was counted."""
        return bool(self._sums[LEVELS] > 0.0)

    def begin(self) -> None:
        """Forget everything: the whole budget is in force."""
        self._sums[:] = 0.0
        self._in_force[0] = 0.0
        self._measured[:] = 0.0

    def fade(self, fade: float) -> None:
        """Let sums of before count less."""
        self._sums *= fade**_QUICKLY
        self._measured *= fade**_QUICKLY

    def measure(self, emitted: float, exact: float) -> None:
        """Count results that were emitted with the part that is in force."""
        self._measured += emitted, exact

    def add(self, counted: FloatArray) -> None:
        """Count results of the miniature, by level and in all."""
        self._sums += counted

    def recalls(self, factors: Sequence[float]) -> FloatArray:
        """Recall with so many times the whole budget.

        >>> curve = RecallCurve([np.zeros(each, int) for each in RecallCurve.shapes()])
        >>> curve.add(np.append(100 * FACTORS.clip(0, 1), 100.0))
        >>> curve.recalls([0.25, 1.0]).round(2).tolist()
        [0.25, 1.0]
        """
        return np.interp(factors, FACTORS, self._recalls())

    def factor_for(self, recall: float) -> float:
        """Tell the least part of the whole budget that keeps a recall; 1 at most.

        This goes by the sample alone. What is measured comes late: rows that were let
        go under another part are still missed, and the part would swing.

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
        """Recall of the sample at all levels, which never falls with more memory."""
        sums = self._sums[:LEVELS] / self._sums[LEVELS]
        found: FloatArray = np.maximum.accumulate(sums)
        return found

    def _recalls(self) -> FloatArray:
        """Recall at all levels, which never falls with more memory.

        The curve of the sample is moved to the recall that is measured with the part
        that is in force: what is found with less is the same part of that, and what is
        missing with more.
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
