"""Durations and the window of a join."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from shedjoin.errors import ParameterError

Duration: TypeAlias = str | timedelta
"""A ``timedelta``, or text such as ``"90 seconds"`` or ``"1 hour 30 minutes"``."""

_UNIT_US = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
_TERM = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([a-z]+?)s?(?=[\s\d-]|$)")
_FIX = 'pass a timedelta or text such as "90 seconds" or "1 hour 30 minutes".'


LONGEST_US = 10**18
"""Some 31,700 years: a window may reach that far from any time without overflow."""


def parse_duration(value: Duration, argument: str = "") -> int:
    """Microseconds of a duration; errors name the ``argument`` that it was given for.

    >>> parse_duration(300, "within")
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: within=300 is not a duration.
    Fix: pass a timedelta or text such as "90 seconds" or "1 hour 30 minutes".
    """
    total = _microseconds(value, f"{argument}={value!r}" if argument else repr(value))
    if not -LONGEST_US <= total <= LONGEST_US:
        raise ParameterError(
            f"{value!r} is too long.", fix='pass at most "10000000 days".'
        )
    return round(total)


def _microseconds(value: Duration, shown: str) -> float:
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if not isinstance(value, str):
        raise ParameterError(f"{shown} is not a duration.", fix=_FIX)
    text = value.strip().lower().removeprefix("interval ")
    total, place = 0.0, 0
    while place < len(text):
        term = _TERM.match(text, place)
        if term is None or term[2] not in _UNIT_US:
            raise ParameterError(f"{shown} is not a duration.", fix=_FIX)
        total += float(term[1]) * _UNIT_US[term[2]]
        place = term.end()
    if not text:
        raise ParameterError(f"{shown} is not a duration.", fix=_FIX)
    return total


@dataclass(frozen=True, slots=True, init=False)
class Within:
    """The window: ``left.t - before <= right.t <= left.t + after``, both ends included.

    At least one of ``before`` and ``after`` is given, by name. The default is zero.

    Parameters
    ----------
    before : str or timedelta
        How far before the left row the right row may lie. If negative, the right row
        must lie at least that much later.
    after : str or timedelta
        How far after the left row the right row may lie. If negative, the right row
        must lie at least that much earlier.

    Examples
    --------
    >>> Within(after="1 hour").after_us
    3600000000
    >>> Within(before="1 minute", after="-2 minutes")
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Within(before='1 minute', after='-2 minutes') ...
    Fix: make before + after at least zero, e.g. Within(before="2 minutes", ...
    """

    before: Duration
    after: Duration

    def __init__(
        self,
        *unnamed: Duration,
        before: Duration | None = None,
        after: Duration | None = None,
    ) -> None:
        if unnamed or (before is None and after is None):
            given = ", ".join(map(repr, unnamed))
            raise ParameterError(
                f"Within({given}) does not say which way the window reaches.",
                fix='write Within(after="15 minutes"), Within(before="15 minutes"), or '
                'both; Within(after="0 seconds") is one instant.',
            )
        object.__setattr__(self, "before", "0 seconds" if before is None else before)
        object.__setattr__(self, "after", "0 seconds" if after is None else after)
        if self.before_us + self.after_us < 0:
            problem = f"{self!r} is an empty window: it ends before it begins."
            fix = (
                'make before + after at least zero, e.g. Within(before="2 minutes", '
                'after="-2 minutes").'
            )
            raise ParameterError(problem, fix=fix)

    @property
    def before_us(self) -> int:
        """``before`` in microseconds."""
        return parse_duration(self.before)

    @property
    def after_us(self) -> int:
        """``after`` in microseconds."""
        return parse_duration(self.after)


WithinEach: TypeAlias = Duration | Mapping[str, Duration]
"""How long rows wait for the others: one duration for all streams, or one for each."""
WithinPair: TypeAlias = WithinEach | Within
"""One duration for both streams, one for each, or the window between the streams."""
