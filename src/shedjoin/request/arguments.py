"""Arguments that have one value for each stream, given by the names of streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shedjoin.errors import ParameterError
from shedjoin.spec.keys import SIDES
from shedjoin.spec.multijoin import by_name
from shedjoin.spec.window import Within, parse_duration


def each_column(argument: str, given: object, names: Sequence[str]) -> tuple[str, ...]:
    """One column for each stream: from one name, a mapping, or a sequence of names.

    >>> each_column("time", "at", ("left", "right"))
    ('at', 'at')
    >>> each_column("time", {"right": "b", "left": "a"}, ("left", "right"))
    ('a', 'b')
    """
    if isinstance(given, str):
        return (given,) * len(names)
    found: object = given
    if isinstance(given, Mapping):
        found = by_name(argument, given, names)
    if isinstance(found, Sequence):
        columns = tuple(found)
        if len(columns) == len(names) and all(isinstance(c, str) for c in columns):
            return columns
    raise ParameterError(
        f"{argument}={given!r} does not name a column of each stream.",
        fix=f'pass {argument}="at", or by stream: {argument}={{'
        f"{', '.join(f'{name!r}: ...' for name in names)}}}.",
    )


def waits_us(within: object, names: Sequence[str]) -> tuple[int, ...]:
    """How long rows of each stream wait for the others, in microseconds.

    >>> waits_us("1 second", ("left", "right"))
    (1000000, 1000000)
    >>> waits_us({"left": "1 second", "right": "0 seconds"}, ("left", "right"))
    (1000000, 0)
    >>> waits_us(Within(before="2 seconds", after="1 second"), ("left", "right"))
    (1000000, 2000000)
    """
    if isinstance(within, Within):
        if len(names) != len(SIDES):
            raise ParameterError(
                f"within={within!r} is a window of two streams, and there are "
                f"{len(names)}.",
                fix='pass how long a row waits for the others: within="1 minute", or '
                f'by stream: within={{"{names[0]}": "1 minute", ...}}.',
            )
        return within.after_us, within.before_us
    if isinstance(within, Mapping) and within.keys() <= {"before", "after"}:
        sides = ", ".join(f"{side}={wait!r}" for side, wait in within.items())
        raise ParameterError(
            f"within={within!r} does not say how long rows of each stream wait.",
            fix=f"write within=shedjoin.Within({sides}).",
        )
    each = within if isinstance(within, Mapping) else dict.fromkeys(names, within)
    found = tuple(
        parse_duration(one, "within") for one in by_name("within", each, names)
    )
    if min(found) < 0:
        window = ', or Within(before=..., after="-1 minute")'
        raise ParameterError(
            f"within={within!r} has a negative duration.",
            fix="pass how long rows of each stream wait for the others"
            f"{window if len(names) == len(SIDES) else ''}.",
        )
    return found
