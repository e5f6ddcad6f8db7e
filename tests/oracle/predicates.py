"""A join by predicates by trying every combination of rows, slow and obvious.

Values are compared as Spark SQL does. ``None`` is null.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple


class Row(NamedTuple):
    """A row of any stream; ``id`` is its own."""

    time_s: int
    id: int
    values: Mapping[str, Any]


Batch = Mapping[str, Sequence[Row]]
Chosen = Mapping[str, Row]
"""A row of each stream."""


class Join(NamedTuple):
    """Windows and delays by stream, the columns that matter, and who matches."""

    keep_s: Mapping[str, int]
    delay_s: Mapping[str, int]
    named: Mapping[str, Sequence[str]]
    holds: Callable[[Chosen], bool]


def predicate_join(batches: Sequence[Batch], join: Join) -> list[Counter[object]]:
    """Ids of the rows of each result, by micro-batch.

    Rows with a null in a column that matters take no part. Late rows go by the
    watermark of the micro-batch before, and rows that nothing can match any more by
    the present one.
    """
    names = list(join.keep_s)
    kept: dict[str, list[Row]] = {name: [] for name in names}
    reached: dict[str, int] = {}
    late_s = watermark_s = 0
    found = []
    for batch in batches:
        usable = {
            name: [r for r in batch[name] if _has_all(r, join.named[name])]
            for name in names
        }
        new = {name: [r for r in usable[name] if r.time_s > late_s] for name in names}
        there = {name: kept[name] + new[name] for name in names}
        fresh = {row.id for rows in new.values() for row in rows}
        results: Counter[object] = Counter()
        for rows in product(*there.values()):
            chosen = dict(zip(names, rows, strict=True))
            is_new = any(row.id in fresh for row in rows)
            if is_new and _is_in_time(rows, join) and join.holds(chosen):
                results[tuple(row.id for row in rows)] += 1
        found.append(results)
        kept = {
            name: [r for r in there[name] if r.time_s + keep_s > watermark_s]
            for name, keep_s in join.keep_s.items()
        }
        late_s = watermark_s
        for name in names:
            for row in usable[name]:
                least = row.time_s - join.delay_s[name]
                reached[name] = max(reached.get(name, least), least)
        watermark_s = max(watermark_s, min(reached.get(name, 0) for name in names))
    return found


def _has_all(row: Row, columns: Sequence[str]) -> bool:
    return all(row.values[column] is not None for column in columns)


def _is_in_time(rows: Sequence[Row], join: Join) -> bool:
    latest = max(row.time_s for row in rows)
    each = zip(rows, join.keep_s.values(), strict=True)
    return all(latest - row.time_s <= keep_s for row, keep_s in each)


def all_near(values: Sequence[Any], eps: Any, *, single: bool = False) -> bool:  # noqa: ANN401
    """Whether all pairs have ``abs(a - b) <= eps``."""
    return all(is_near(a, b, eps, single=single) for a, b in combinations(values, 2))


def is_near(a: Any, b: Any, eps: Any, *, single: bool = False) -> bool:  # noqa: ANN401
    """Whether ``abs(a - b) <= eps``; numbers of 32 bits have such a difference."""
    difference = abs(a - b)
    if single:
        difference = as_single(difference)
    return bool(difference <= eps)


def as_single(value: float) -> float:
    """Round to 32 bits."""
    try:
        rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def compares(a: Any, operator: str, b: Any) -> bool:  # noqa: ANN401
    """Whether two values compare so; a NaN is equal to itself and the greatest."""
    less, equal = a < b, a == b
    if isinstance(a, float) and isinstance(b, float):
        equal = a == b or (math.isnan(a) and math.isnan(b))
        less = a < b or (math.isnan(b) and not math.isnan(a))
    answers: dict[str, bool] = {
        "=": equal,
        "!=": not equal,
        "<": less,
        "<=": less or equal,
        ">": not less and not equal,
        ">=": not less,
    }
    return answers[operator]
