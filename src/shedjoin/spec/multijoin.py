"""The arguments of a join of several streams, given by the names of the streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import TypeAlias, TypeVar

from shedjoin.errors import ParameterError
from shedjoin.spec.keys import SIDES

OnEach: TypeAlias = str | Sequence[str] | Mapping[str, str | Sequence[str]]
"""Key columns: the same for all streams, or the key columns of each stream."""

FEWEST, MOST = 2, 5
_Value = TypeVar("_Value")


def check_streams(streams: object) -> tuple[str, ...]:
    """Names of the streams; refuse fewer than two, or more than five."""
    fix = 'pass streams by name: {"orders": orders, "payments": payments}.'
    if not isinstance(streams, Mapping):
        raise ParameterError(f"{type(streams).__name__} is no mapping.", fix=fix)
    names = tuple(streams)
    if not FEWEST <= len(names) <= MOST:
        raise ParameterError(
            f"{len(names)} streams are given; {FEWEST} to {MOST} can be joined.",
            fix=fix
            if len(names) < FEWEST
            else "join some of them first, and their "
            "results with the others: docs/how-to/go-on-after-a-join.md.",
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
    by_stream = f"on={{{', '.join(f'{name!r}: ...' for name in names)}}}"
    if not isinstance(on, Mapping):
        keys = (_listed(on),) * len(names)
    elif set(on) != set(names) and _maps_columns(on, names):
        own, others = [*on], [*on.values()]
        pair = (own[0], others[0]) if len(on) == 1 else (own, others)
        meant = dict(zip(names, pair, strict=True))
        raise ParameterError(
            f"on={on!r} does not name the streams, which are {', '.join(names)}.",
            fix=f"name the columns of each stream: on={meant!r}.",
        )
    else:
        keys = tuple(_listed(one) for one in by_name("on", on, names))
    if not any(keys):
        raise ParameterError(
            f"on={on!r} names no key columns.",
            fix=f'pass on="id", on=["a", "b"], or by stream: {by_stream}. A condition '
            'is a predicate: Where("left.x", "<", "right.y").',
        )
    if len({len(own) for own in keys}) > 1:
        raise ParameterError(
            f"on={on!r} does not name the same number of key columns in all streams.",
            fix=f'pass on="id", on=["a", "b"], or by stream: {by_stream}.',
        )
    return keys


def _maps_columns(on: Mapping[str, object], names: Sequence[str]) -> bool:
    """Whether a mapping may map columns of the left stream to columns of the right."""
    return bool(on) and not set(on) & set(names) and len(names) == len(SIDES)


def by_name(
    argument: str, each: Mapping[str, _Value], names: Sequence[str]
) -> list[_Value]:
    """Values that are given by name, in the order of the streams."""
    if set(each) != set(names):
        raise ParameterError(
            f"{argument} is given for {sorted(each, key=str)}, but the streams are "
            f"{sorted(names)}.",
            fix=f"give {argument} for each of {', '.join(names)}.",
        )
    return [each[name] for name in names]


def _listed(keys: object) -> tuple[str, ...]:
    if isinstance(keys, str):
        return (keys,)
    found: tuple[object, ...] = ()
    if isinstance(keys, AbstractSet) and len(keys) > 1:
        raise ParameterError(
            f"on={keys!r} has no order, and keys of the streams are compared in order.",
            fix="write a list.",
        )
    if isinstance(keys, Iterable) and not isinstance(keys, bytes):
        with suppress(TypeError):  # a Column only seems to be iterable
            found = tuple(keys)
    names = tuple(key for key in found if isinstance(key, str))
    return names if len(names) == len(found) else ()
