"""What a row asks of rows of other streams: that their order codes lie in a range.

Every term is such a range, and the ends are exact. Subtraction rounds, but never turns
an order around, so of the numbers that are within ``eps`` of a value none is missing
in between: it is enough to find the first and the last of them.
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
    """Codes from ``low`` to ``high``, both included; or all others."""

    low: IntArray
    high: IntArray
    inside: bool = True

    def take(self, at: IntArray) -> Bounds:
        """Those of some rows."""
        return Bounds(self.low[at], self.high[at], self.inside)

    def within(self, other: Bounds) -> Bounds:
        """Codes that lie in both."""
        low, high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)
        return Bounds(low, high)


def bounds_of(term: BandTerm | CompareTerm, stream: int, codes: IntArray) -> Bounds:
    """What rows of a stream ask of the other streams of a term."""
    if isinstance(term, BandTerm):
        return band_bounds(term, codes)
    operator = term.operator
    if stream == term.streams[0]:
        operator = _MIRRORED[operator]
    return compare_bounds(operator, codes)


def compare_bounds(operator: str, codes: IntArray) -> Bounds:
    """Codes that compare so with those given."""
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
    """Codes of values that are within ``eps`` of those given."""
    if term.kind == "integer":
        return Bounds(_moved(codes, term.eps, -1), _moved(codes, term.eps, 1))
    values = values_of(codes, term.kind)
    empty = ~np.isfinite(values)
    values = np.where(empty, values.dtype.type(0), values)
    high = codes_of(_last_within(values, term))
    low = codes_of(-_last_within(-values, term))
    return _without(empty, Bounds(low, high))


def _without(empty: BoolArray, bounds: Bounds) -> Bounds:
    """Bounds that hold nothing for some rows."""
    low, high = np.where(empty, 1, bounds.low), np.where(empty, 0, bounds.high)
    return Bounds(low, high)


def _moved(codes: IntArray, eps: float, sign: int) -> IntArray:
    """Integers moved by ``eps``, but not beyond the last there is."""
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
    """The greatest x for which ``x - value`` as computed is at most ``eps``.

    That is value + eps, or a neighbour of it; only where the two nearly cancel each
    other, many numbers further on are still so near.
    """
    real, rising = values.dtype.type, values.dtype.type(np.inf)
    with np.errstate(over="ignore"):
        # Rounding an eps of 64 bits to 32 only makes a worse first guess.
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
    """The same, by halving: each value itself is near enough, and infinity is not."""
    low, high = codes_of(values), codes_of(np.full_like(values, np.inf))
    left = np.flatnonzero(low + 1 != high)
    while left.size:
        a, b = low[left], high[left]
        middle = (a & b) + ((a ^ b) >> 1)  # halfway, though a + b may overflow
        near = _is_near(values_of(middle, term.kind), values[left], term)
        low[left], high[left] = np.where(near, middle, a), np.where(near, b, middle)
        left = left[low[left] + 1 != high[left]]
    return values_of(low, term.kind)


def _is_near(numbers: Reals, values: Reals, term: BandTerm) -> BoolArray:
    """Whether numbers are near enough to values, or less than them."""
    with np.errstate(over="ignore"):
        difference = numbers - values
    # Spark compares as 64 bits, whatever the difference was computed in.
    near: BoolArray = difference.astype(np.float64) <= np.float64(term.eps)
    return near
