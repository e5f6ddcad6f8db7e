"""What the size of a row tells about its matches, beyond what its key does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from shedjoin.models.curve import LEVELS, Curve
from shedjoin.models.words import Shape, reals
from shedjoin.types import FloatArray, IntArray

CLASSES = 16
"""Octaves of size: the first has all below 64 bytes, the last all from 1 MB on."""
_BELOW = 6
"""Binary digits of a size of the first class, at most."""
_STEPS = 8
"""Steps of an octave, by which factors are read."""
_BITS = 49
_FIRST = ((1023 + _BELOW) * _STEPS) - 1
"""Bits of a size as a real number below those that tell its step, and the step of the
first class."""
_TINY = 1e-30
_STRENGTH = 30.0
"""Matches that what is assumed before any evidence weighs as much as."""
_NEAR = 0.5 ** np.abs(np.subtract.outer(np.arange(1, CLASSES), np.arange(1, CLASSES)))
"""How much the evidence of one class says of another."""


Octaves: TypeAlias = npt.NDArray[np.int8]
"""Classes of size."""


class Sizes:
    """Matches and time at risk of monitored rows by stream, level and class of size.

    Levels say how frequent the key of a row is. What rows of a class match is compared
    with what all rows of the same levels do, so a size that only goes with frequent
    keys tells nothing. Rows of the first class are left out: they are those of a budget
    in rows, as every row of one in bytes takes more.

    Parameters
    ----------
    room : sequence of arrays
        Of the shapes that :meth:`shapes` tells.
    curve : Curve
        Says how many keys the evidence of a level comes from, and how it ages.
    """

    @staticmethod
    def shapes(streams: int) -> tuple[Shape, ...]:
        """Room for so many streams."""
        return ((streams, LEVELS, CLASSES),) * 3

    def __init__(self, room: Sequence[IntArray], curve: Curve) -> None:
        self.matches, self.seconds, self.lately = map(reals, room)
        self._curve = curve
        self._steps: FloatArray | None = None

    def add_matches(
        self, stream: IntArray, level: IntArray, octave: Octaves, weight: IntArray
    ) -> None:
        """Count matches, each for so many; they tell nothing before :meth:`tick`."""
        self._add(self.lately, stream, level, octave, weight)

    def add_time(
        self, stream: int, level: IntArray, octave: Octaves, passed_us: IntArray
    ) -> None:
        """Count the time for which each row could be matched."""
        own = np.full(level.size, stream, np.int64)
        self._add(self.seconds, own, level, octave, passed_us * 1e-6)

    def tick(self, passed_us: int) -> None:
        """Let evidence age; take in the matches of the time that has passed."""
        factor = 0.5 ** (passed_us / self._curve.half_life_us)
        self.matches *= factor
        self.matches += self.lately
        self.lately[:] = 0.0
        self.seconds *= factor
        self._steps = None

    def factor(self, stream: IntArray, size: IntArray) -> FloatArray:
        """How many times as often rows of a size match as their keys let expect."""
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
        """Factors by stream and step of size, which pass those of classes evenly.

        The first step is that of the first class.
        """
        middle = np.arange(1, CLASSES) + 0.5
        steps = 1.0 + (np.arange((CLASSES - 1) * _STEPS) + 0.5) / _STEPS
        each = [np.interp(steps, middle, own) for own in factors]
        return np.insert(np.array(each), 0, 1.0, axis=1)

    def _factors(self) -> FloatArray:
        """Factors by stream and class, from the second class on.

        A class leans on the classes around it, and these on 1, by as much as some
        matches of evidence. All matches of a level count at most as many as it has
        keys: a frequent key has many, which say what that key does.
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
