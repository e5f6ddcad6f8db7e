"""The arguments of a join of several streams, given by the names of the streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from shedjoin.errors import ParameterError
from shedjoin.spec.window import Duration, parse_duration

OnEach: TypeAlias = str | Sequence[str] | Mapping[str, str | Sequence[str]]
"""Key columns: the same in all streams, or those of each."""
WithinEach: TypeAlias = Duration | Mapping[str, Duration]
"""How long rows are kept: the same for all streams, or of each."""

FEWEST, MOST = 2, 5
_Value = TypeVar("_Value")


def check_streams(streams: object) -> tuple[str, ...]:
    """Give the names of the streams, of which there are two to five."""
    fix = 'pass streams by name: {"orders": orders, "payments": payments}.'
    if not isinstance(streams, Mapping):
        raise ParameterError(f"{type(streams).__name__} is no mapping.", fix=fix)
    names = tuple(streams)
    if not FEWEST <= len(names) <= MOST:
        raise ParameterError(
            f"{len(names)} streams are given; {FEWEST} to {MOST} can be joined.",
            fix=fix,
        )
    wrong = [name for name in names if not isinstance(name, str) or not name]
    if wrong:
        raise ParameterError(f"{wrong[0]!r} is no name of a stream.", fix=fix)
    return names


def stream_keys(on: object, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Key columns of each stream.

    >>> stream_keys("id", ("a", "b"))
    (('id',), ('id',))
    >>> stream_keys({"a": "id", "b": ["a_id"]}, ("a", "b"))
    (('id',), ('a_id',))
    """
    each = on if isinstance(on, Mapping) else dict.fromkeys(names, on)
    keys = tuple(_listed(one) for one in by_name("on", each, names))
    if not all(keys) or len({len(own) for own in keys}) > 1:
        raise ParameterError(
            f"on={on!r} does not name the same number of key columns in all streams.",
            fix='pass on="id", on=["a", "b"], or the keys of each: '
            f"on={{{', '.join(f'{name!r}: ...' for name in names)}}}.",
        )
    return keys


def stream_keeps_us(within: WithinEach, names: Sequence[str]) -> tuple[int, ...]:
    """How long rows of each stream are kept, in microseconds.

    >>> stream_keeps_us({"a": "1 second", "b": "0 seconds"}, ("a", "b"))
    (1000000, 0)
    """
    each = within if isinstance(within, Mapping) else dict.fromkeys(names, within)
    found = tuple(parse_duration(one) for one in by_name("within", each, names))
    if min(found) < 0:
        raise ParameterError(
            f"within={within!r} has a negative duration.",
            fix="pass how long rows of each stream wait for the others.",
        )
    return found


def by_name(
    argument: str, each: Mapping[str, _Value], names: Sequence[str]
) -> list[_Value]:
    """Put what is given by name into the order of the streams."""
    if set(each) != set(names):
        raise ParameterError(
            f"{argument} is given for {sorted(each)}, but the streams are "
            f"{sorted(names)}.",
            fix=f"give {argument} for each of {', '.join(names)}.",
        )
    return [each[name] for name in names]


def _listed(keys: object) -> tuple[str, ...]:
    if isinstance(keys, str):
        return (keys,)
    found = tuple(keys) if isinstance(keys, Iterable) else ()
    return found if all(isinstance(key, str) for key in found) else ()
