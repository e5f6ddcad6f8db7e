"""A join of several streams by trying every combination of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple


class Row(NamedTuple):
    """A row of any stream; ``id`` is its own."""

    key: tuple[object, ...]
    time_s: int
    id: int


Batch = Mapping[str, Sequence[Row]]


class Streams(NamedTuple):
    """How long rows of each stream wait for others, and how late they may come."""

    keep_s: Mapping[str, int]
    delay_s: Mapping[str, int]


def multijoin(batches: Sequence[Batch], streams: Streams) -> list[Counter[object]]:
    """Ids of the rows of each result, by micro-batch.

    Late rows go by the watermark of the micro-batch before, and rows that nothing can
    match any more by the present one, as Spark has it.
    """
    names = list(streams.keep_s)
    kept: dict[str, list[Row]] = {name: [] for name in names}
    reached: dict[str, int] = {}
    late_s = watermark_s = 0
    found = []
    for batch in batches:
        new = {name: [r for r in batch[name] if r.time_s > late_s] for name in names}
        there = {name: kept[name] + new[name] for name in names}
        fresh = {row.id for rows in new.values() for row in rows}
        results: Counter[object] = Counter()
        for key in {row.key for rows in new.values() for row in rows}:
            alike = ([r for r in there[name] if r.key == key] for name in names)
            for rows in product(*alike):
                if any(row.id in fresh for row in rows) and _is_match(rows, streams):
                    results[tuple(row.id for row in rows)] += 1
        found.append(results)
        kept = {
            name: [r for r in there[name] if r.time_s + keep_s > watermark_s]
            for name, keep_s in streams.keep_s.items()
        }
        late_s = watermark_s
        for name in names:
            for row in batch[name]:
                least = row.time_s - streams.delay_s[name]
                reached[name] = max(reached.get(name, least), least)
        watermark_s = max(watermark_s, min(reached.get(name, 0) for name in names))
    return found


def _is_match(rows: Sequence[Row], streams: Streams) -> bool:
    latest = max(row.time_s for row in rows)
    each = zip(rows, streams.keep_s.values(), strict=True)
    return all(latest - row.time_s <= keep_s for row, keep_s in each)
