"""The random streams hold what they promise, and the oracle is sound on them."""

import itertools
from collections import Counter
from collections.abc import Callable

import pytest

from oracle.join import (
    OracleBatch,
    Row,
    exact_join,
    is_dead,
    is_late,
    is_usable,
    new_pairs,
    time_of,
)
from support.keys import KEY_KINDS, key_of
from support.streams import START_US, Case, make_case, tables

CASES = [make_case(seed) for seed in range(400)]


def oracle(case: Case) -> list[OracleBatch]:
    """Run the oracle on a case."""
    return exact_join(
        case.batches,
        before_us=case.before_us,
        after_us=case.after_us,
        delays_ms=case.delays_ms,
    )


def alive(rows: list[Row], reach_us: int, watermark_ms: int) -> list[Row]:
    """Return the rows that are not dead."""
    return [row for row in rows if not is_dead(row, reach_us, watermark_ms)]


def at_watermark(case: Case) -> bool:
    """Tell whether a row arrives right at the watermark that judges it."""
    limits_us = [0, *(batch.watermark_ms * 1000 for batch in oracle(case))]
    return any(
        row.time_us == limit_us
        for limit_us, batch in zip(limits_us, case.batches, strict=False)
        for row in itertools.chain(*batch)
    )


def at_window_end(case: Case) -> bool:
    """Tell whether a pair is as far apart as the window allows."""
    return any(
        time_of(right) - time_of(left) in (case.after_us, -case.before_us)
        for batch in oracle(case)
        for left, right in batch.pairs
    )


def longest_side(case: Case) -> int:
    """Return how many rows the longer side of the largest batch has."""
    return max(max(len(left), len(right)) for left, right in case.batches)


TRAITS: dict[str, Callable[[Case], bool]] = {
    "null key": lambda c: any(None in r.key for b in c.batches for s in b for r in s),
    "null time": lambda c: any(
        r.time_us is None for b in c.batches for s in b for r in s
    ),
    "duplicate rows": lambda c: any(len(set(s)) < len(s) for b in c.batches for s in b),
    "empty batch": lambda c: ([], []) in c.batches,
    "one side empty": lambda c: any(bool(le) != bool(ri) for le, ri in c.batches),
    "burst": lambda c: any(
        min(map(len, b)) > 0 and max(map(len, b)) > 8 * min(map(len, b))
        for b in c.batches
    ),
    "one batch": lambda c: len(c.batches) == 1,
    "eight batches": lambda c: len(c.batches) == 8,
    "two delays": lambda c: c.delays_ms[0] != c.delays_ms[1],
    "zero width": lambda c: c.before_us + c.after_us == 0,
    "negative before": lambda c: c.before_us < 0 < c.before_us + c.after_us,
    "negative after": lambda c: c.after_us < 0 < c.before_us + c.after_us,
    "microseconds": lambda c: 0 < c.before_us + c.after_us < 20,
    "endless window": lambda c: c.after_us > 10**13,
    "large": lambda c: longest_side(c) > 200,
    "late by nothing": at_watermark,
    "pairs at a window end": at_window_end,
    "matches": lambda c: any(b.pairs for b in oracle(c)),
    "late left": lambda c: any(b.late_left for b in oracle(c)),
    "late right": lambda c: any(b.late_right for b in oracle(c)),
    "deaths": lambda c: (
        oracle(c)[-1].alive_left < sum(b.seen_left - b.late_left for b in oracle(c))
    ),
}


@pytest.mark.parametrize("trait", TRAITS)
def test_some_cases_have(trait: str) -> None:
    assert sum(map(TRAITS[trait], CASES)) >= 5


def test_same_seed_same_case() -> None:
    assert make_case(17) == CASES[17]


def test_keys_differ() -> None:
    for kind in KEY_KINDS:
        keys = {key_of(kind, number) for number in range(3000)}
        assert len(keys) == (2 if kind == "bool" else 3000)


def test_tables_hold_the_rows() -> None:
    for case in CASES[:40]:
        for (left, right), rows in zip(tables(case), case.batches, strict=True):
            assert (left.num_rows, right.num_rows) == (len(rows[0]), len(rows[1]))
            assert left.column("left_id").to_pylist() == [r.payload[0] for r in rows[0]]
            assert right.column("right_time").cast("int64").to_pylist() == [
                row.time_us for row in rows[1]
            ]


def test_times_are_plausible() -> None:
    for case in CASES:
        for row in (row for batch in case.batches for side in batch for row in side):
            assert row.time_us is None or abs(row.time_us - START_US) < 10**12


def test_forgetting_the_dead_loses_nothing() -> None:
    for case in CASES:
        kept: tuple[list[Row], list[Row]] = ([], [])
        late_watermark_ms = 0
        for rows, found in zip(case.batches, oracle(case), strict=True):
            left, right = (
                [r for r in side if is_usable(r) and not is_late(r, late_watermark_ms)]
                for side in rows
            )
            pairs = new_pairs(kept, (left, right), case.before_us, case.after_us)
            assert Counter(pairs) == Counter(found.pairs)
            late_watermark_ms = found.watermark_ms
            kept = (
                alive(kept[0] + left, case.after_us, found.watermark_ms),
                alive(kept[1] + right, case.before_us, found.watermark_ms),
            )
            assert [len(side) for side in kept] == [found.alive_left, found.alive_right]
