"""Bounds: for a row, the range of order codes that matching rows of other streams have.

An order code is an integer that compares as its value does. For each row, each
predicate of a join allows such a range. Its ends are exact. Floating-point subtraction
rounds, but it is monotonic. So the numbers within ``eps`` of a value form a range
without gaps, and it is enough to find the first and the last of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.columns.codes import Reals, codes_of, values_of
from shedjoin.spec.terms import BandTerm, CompareTerm
from shedjoin.types import BoolArray, IntArray

_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Bounds(NamedTuple):
    """Codes from ``low`` to ``high`` inclusive; all others if ``inside`` is false."""

    low: IntArray
    high: IntArray
    inside: bool = True

    def take(self, at: IntArray) -> Bounds:
        """Select the bounds of some of the rows."""
        return Bounds(self.low[at], self.high[at], self.inside)

    def within(self, other: Bounds) -> Bounds:
        """Intersection of two ranges, row by row."""
        low, high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)
        return Bounds(low, high)


def bounds_of(term: BandTerm | CompareTerm, stream: int, codes: IntArray) -> Bounds:
    """Bounds that rows of a stream set for the other streams of a term."""
    if isinstance(term, BandTerm):
        return band_bounds(term, codes)
    operator = term.operator
    if stream == term.streams[0]:
        operator = _MIRRORED[operator]
    return compare_bounds(operator, codes)


def compare_bounds(operator: str, codes: IntArray) -> Bounds:
    """Bounds of the codes x for which ``x operator code`` holds."""
    low, high = np.full_like(codes, _LEAST), np.full_like(codes, _MOST)
    if operator in ("=", "!="):
        return Bounds(codes, codes, operator == "=")
    if operator in ("<", "<="):
        high = codes - (operator == "<")
        empty = (codes == _LEAST) & (operator == "<")
    else:
        low = codes + (operator == ">")
        empty = (codes == _MOST) & (operator == ">")
    return _without(empty, Bounds(low, high))


def band_bounds(term: BandTerm, codes: IntArray) -> Bounds:
    """Bounds of the codes whose values differ from given values by at most ``eps``."""
    if term.kind == "integer":
        return Bounds(_moved(codes, term.eps, -1), _moved(codes, term.eps, 1))
    values = values_of(codes, term.kind)
    empty = ~np.isfinite(values)
    values = np.where(empty, values.dtype.type(0), values)
    high = codes_of(_last_within(values, term))
    low = codes_of(-_last_within(-values, term))
    return _without(empty, Bounds(low, high))


def _without(empty: BoolArray, bounds: Bounds) -> Bounds:
    """Replace the bounds of some rows by an empty range."""
    low, high = np.where(empty, 1, bounds.low), np.where(empty, 0, bounds.high)
    return Bounds(low, high)


def _moved(codes: IntArray, eps: float, sign: int) -> IntArray:
    """Move integers by ``eps``, but not beyond 64 bits."""
    left = int(eps)
    while left:
        step = min(left, _MOST)
        if sign > 0:
            codes = np.minimum(codes, _MOST - step) + step
        else:
            codes = np.maximum(codes, _LEAST + step) - step
        left = min(left - step, 2 * _MOST)
    return codes


def _last_within(values: Reals, term: BandTerm) -> Reals:
    """Greatest x for which ``x - value``, as computed, is at most ``eps``.

    Usually, this is value + eps or a neighbouring number. If value and eps nearly
    cancel each other, x can be further away. Then bisection finds it.
    """
    real, rising = values.dtype.type, values.dtype.type(np.inf)
    with np.errstate(over="ignore"):
        # Rounding eps from 64 to 32 bits only makes the first guess worse.
        guess = values + real(term.eps)
        found = np.where(
            _is_near(guess, values, term), guess, np.nextafter(guess, -rising)
        )
        above = np.nextafter(guess, rising)
        found = np.where(_is_near(above, values, term), above, found)
        beyond = np.nextafter(found, rising)
    sure = _is_near(found, values, term) & ~_is_near(beyond, values, term)
    left = np.flatnonzero(~sure)
    if left.size:
        found[left] = _halved(values[left], term)
    return found


def _halved(values: Reals, term: BandTerm) -> Reals:
    """Find the same number as :func:`_last_within`, by bisection.

    The search starts between the value itself, which is within ``eps``, and infinity,
    which is not.
    """
    low, high = codes_of(values), codes_of(np.full_like(values, np.inf))
    left = np.flatnonzero(low + 1 != high)
    while left.size:
        a, b = low[left], high[left]
        middle = (a & b) + ((a ^ b) >> 1)  # halfway; a + b could overflow
        near = _is_near(values_of(middle, term.kind), values[left], term)
        low[left], high[left] = np.where(near, middle, a), np.where(near, b, middle)
        left = left[low[left] + 1 != high[left]]
    return values_of(low, term.kind)


def _is_near(numbers: Reals, values: Reals, term: BandTerm) -> BoolArray:
    """Whether the numbers exceed the values by at most ``eps``."""
    with np.errstate(over="ignore"):
        difference = numbers - values
    # Spark compares in 64 bits, whatever type the difference was computed in.
    near: BoolArray = difference.astype(np.float64) <= np.float64(term.eps)
    return near
