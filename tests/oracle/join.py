"""The exact two-way windowed equi-join over micro-batches, slow and obvious."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One arrival: key values, event time in microseconds, anything else."""

    key: tuple[Any, ...]
    time_us: int | None
    payload: Any


@dataclass(frozen=True, slots=True)
class OracleBatch:
    """What one micro-batch must give.

    Attributes
    ----------
    pairs
        The (left, right) matches whose later row arrived in this batch.
    late_left, late_right
        Usable rows that arrived late.
    seen_left, seen_right
        Usable rows, late ones included.
    watermark_ms
        W_i, the watermark by which residents die at the end of this batch.
    alive_left, alive_right
        Rows so far, not late on arrival, that are not dead under W_i.
    """

    pairs: list[tuple[Row, Row]]
    late_left: int
    late_right: int
    seen_left: int
    seen_right: int
    watermark_ms: int
    alive_left: int
    alive_right: int


def is_usable(row: Row) -> bool:
    """Tell whether no key value and not the time is null; else it never counts."""
    return row.time_us is not None and None not in row.key


def time_of(row: Row) -> int:
    """Return the event time of a usable row."""
    assert row.time_us is not None
    return row.time_us


def is_match(left: Row, right: Row, before_us: int, after_us: int) -> bool:
    """Keys equal, and left.t - before <= right.t <= left.t + after, closed."""
    low = time_of(left) - before_us
    high = time_of(left) + after_us
    return left.key == right.key and low <= time_of(right) <= high


def is_late(row: Row, watermark_ms: int) -> bool:
    """Late iff t <= W, with the watermark of the batch before (W_{i-1})."""
    return time_of(row) <= watermark_ms * 1000


def is_dead(row: Row, reach_us: int, watermark_ms: int) -> bool:
    """Dead iff t + reach <= W; the reach is `after` for left, `before` for right."""
    return time_of(row) + reach_us <= watermark_ms * 1000


def next_watermark_ms(
    watermark_ms: int,
    left: Sequence[Row],
    right: Sequence[Row],
    delays_ms: tuple[int, int],
) -> int:
    """Return the watermark after a batch, from all usable rows so far.

    Per side: the largest floor(t / 1 ms) less the side's delay, 0 without rows.
    The global watermark is the smaller of the two and never goes back.
    """
    sides = []
    for rows, delay_ms in zip((left, right), delays_ms, strict=True):
        times_ms = [time_of(row) // 1000 for row in rows]
        sides.append(max(times_ms) - delay_ms if times_ms else 0)
    return max(watermark_ms, min(sides))


def new_pairs(
    old: tuple[list[Row], list[Row]],
    new: tuple[list[Row], list[Row]],
    before_us: int,
    after_us: int,
) -> list[tuple[Row, Row]]:
    """Match new left with old and new right, then old left with new right."""
    pairs = []
    for lefts, rights in ((new[0], old[1] + new[1]), (old[0], new[1])):
        by_key: dict[tuple[Any, ...], list[Row]] = {}
        for right in rights:
            by_key.setdefault(right.key, []).append(right)
        for left in lefts:
            for right in by_key.get(left.key, []):
                if is_match(left, right, before_us, after_us):
                    pairs.append((left, right))
    return pairs


def exact_join(
    batches: Sequence[tuple[Sequence[Row], Sequence[Row]]],
    *,
    before_us: int,
    after_us: int,
    delays_ms: tuple[int, int],
) -> list[OracleBatch]:
    """Join micro-batches of (left rows, right rows), keeping every row for ever.

    Late rows are dropped; death is only counted and never decides a match, so a
    library that forgets the dead must still give these pairs.
    """
    results = []
    late_watermark_ms = 0  # W_{i-1}
    watermark_ms = 0  # W_i
    usable: tuple[list[Row], list[Row]] = ([], [])
    kept: tuple[list[Row], list[Row]] = ([], [])
    for left, right in batches:
        seen = tuple([row for row in rows if is_usable(row)] for rows in (left, right))
        punctual_left, punctual_right = (
            [row for row in rows if not is_late(row, late_watermark_ms)]
            for rows in seen
        )
        new = (punctual_left, punctual_right)
        pairs = new_pairs(kept, new, before_us, after_us)
        for side in (0, 1):
            usable[side].extend(seen[side])
            kept[side].extend(new[side])
        alive = [
            sum(not is_dead(row, reach_us, watermark_ms) for row in rows)
            for rows, reach_us in zip(kept, (after_us, before_us), strict=True)
        ]
        results.append(
            OracleBatch(
                pairs=pairs,
                late_left=len(seen[0]) - len(new[0]),
                late_right=len(seen[1]) - len(new[1]),
                seen_left=len(seen[0]),
                seen_right=len(seen[1]),
                watermark_ms=watermark_ms,
                alive_left=alive[0],
                alive_right=alive[1],
            )
        )
        late_watermark_ms = watermark_ms
        watermark_ms = next_watermark_ms(watermark_ms, *usable, delays_ms)
    return results
