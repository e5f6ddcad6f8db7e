"""How the size of a row affects its matches, beyond the effect of its key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from shedjoin.models.curve import LEVELS, Curve
from shedjoin.models.words import Shape, reals
from shedjoin.types import FloatArray, IntArray

CLASSES = 16
"""Classes of size, in octaves: the first is below 64 bytes, the last from 1 MB on."""
_BELOW = 6
"""A size in the first class has at most this number of binary digits."""
_STEPS = 8
"""Steps of an octave in the table of factors."""
_BITS = 49
_FIRST = ((1023 + _BELOW) * _STEPS) - 1
"""A size is converted to a floating-point number. Without its last ``_BITS`` bits, this
is the number of the step. ``_FIRST`` is the step of the first class."""
_TINY = 1e-30
_STRENGTH = 30.0
"""Weight of the prior, in matches."""
_NEAR = 0.5 ** np.abs(np.subtract.outer(np.arange(1, CLASSES), np.arange(1, CLASSES)))
"""Weight of the evidence of one class for another class."""


Octaves: TypeAlias = npt.NDArray[np.int8]
"""Classes of size."""


class Sizes:
    """Counts matches of monitored rows, and the time for which they could match.

    Both are counted by stream, level and class of size. A level says how frequent the
    key of a row is. The rows of a class are compared with all rows of the same level.
    So if large rows match often only because their keys are frequent, their size has no
    effect. Rows of the first class are left out. They occur only with a budget in rows,
    since a row takes at least 64 bytes of a budget in bytes.

    Parameters
    ----------
    room : sequence of arrays
        Arrays of the shapes that :meth:`shapes` gives.
    curve : Curve
        Has the number of keys of each level, and the half-life of evidence.
    """

    @staticmethod
    def shapes(streams: int) -> tuple[Shape, ...]:
        """Shapes of the arrays for a given number of streams."""
        return ((streams, LEVELS, CLASSES),) * 3

    def __init__(self, room: Sequence[IntArray], curve: Curve) -> None:
        self.matches, self.seconds, self.lately = map(reals, room)
        self._curve = curve
        self._steps: FloatArray | None = None

    def add_matches(
        self, stream: IntArray, level: IntArray, octave: Octaves, weight: IntArray
    ) -> None:
        """Count matches by weight. They take effect at the next :meth:`tick`."""
        self._add(self.lately, stream, level, octave, weight)

    def add_time(
        self, stream: int, level: IntArray, octave: Octaves, passed_us: IntArray
    ) -> None:
        """Add the time for which each row could be matched."""
        own = np.full(level.size, stream, np.int64)
        self._add(self.seconds, own, level, octave, passed_us * 1e-6)

    def tick(self, passed_us: int) -> None:
        """Fade the old evidence, and include the matches since the last tick."""
        factor = 0.5 ** (passed_us / self._curve.half_life_us)
        self.matches *= factor
        self.matches += self.lately
        self.lately[:] = 0.0
        self.seconds *= factor
        self._steps = None

    def factor(self, stream: IntArray, size: IntArray) -> FloatArray:
        """How often rows of a size match, relative to rows with keys as frequent."""
        if not self.matches.any():
            return np.ones(size.size)
        if self._steps is None:
            self._steps = self._between(self._factors())
        bits = size.astype(np.float64).view(np.int64)
        step = (bits >> _BITS) - _FIRST
        step.clip(0, self._steps.shape[1] - 1, out=step)
        step += stream * self._steps.shape[1]
        found: FloatArray = self._steps.take(step)
        return found

    @staticmethod
    def _between(factors: FloatArray) -> FloatArray:
        """Factors by stream and step of size, interpolated between the classes.

        The first step is for all sizes of the first class.
        """
        middle = np.arange(1, CLASSES) + 0.5
        steps = 1.0 + (np.arange((CLASSES - 1) * _STEPS) + 0.5) / _STEPS
        each = [np.interp(steps, middle, own) for own in factors]
        return np.insert(np.array(each), 0, 1.0, axis=1)

    def _factors(self) -> FloatArray:
        """Factors by stream and class, from the second class on.

        The factor of a class is drawn towards the mean factor of nearby classes, which
        weighs as much as 30 matches. In the same way, this mean is drawn towards 1. All
        matches of a level together weigh at most as much as its number of keys, because
        the many matches of a frequent key describe only this key.
        """
        matches, seconds = self.matches[:, :, 1:], self.seconds[:, :, 1:]
        time = seconds.sum(axis=2, keepdims=True)
        total = np.maximum(matches.sum(axis=2, keepdims=True), _TINY)
        rate = total / np.where(time > 0.0, time, np.inf)
        keys = self._curve.keys[:, :, None]
        weight = np.where(time > 0.0, keys / (keys + total), 0.0)
        expected = (weight * rate * seconds).sum(axis=1)
        found = (weight * matches).sum(axis=1)
        around = (found @ _NEAR + _STRENGTH) / (expected @ _NEAR + _STRENGTH)
        factor: FloatArray = (found + _STRENGTH * around) / (expected + _STRENGTH)
        return factor

    @staticmethod
    def _add(
        into_table: FloatArray,
        stream: IntArray,
        level: IntArray,
        octave: Octaves,
        weight: npt.NDArray[Any],
    ) -> None:
        if octave.any():
            cell = (stream * LEVELS + level) * CLASSES + octave
            found = np.bincount(cell, weight, minlength=into_table.size)
            into_table += found.reshape(into_table.shape)


def octave_of(size: IntArray) -> Octaves:
    """Class of a size.

    >>> octave_of(np.array([1, 63, 64, 127, 128, 1 << 40])).tolist()
    [0, 0, 1, 1, 2, 15]
    """
    _, digits = np.frexp(size.astype(np.float64))
    return (digits - _BELOW).clip(0, CLASSES - 1).astype(np.int8)
