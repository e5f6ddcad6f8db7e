"""Seeded random stream cases, and the Arrow tables they stand for."""

import itertools
import random
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from oracle.join import Row, is_usable, next_watermark_ms

from .keys import KEY_KINDS, KeyKind, key_fields, key_of
from .shapes import Shape, draw_shape, draw_sizes, draw_window

START_US = 1_700_000_000_000_000  # 2023-11-14 22:13:20 UTC
TIME_TYPE = pa.timestamp("us", tz="UTC")

Batch = tuple[list[Row], list[Row]]


@dataclass(frozen=True, slots=True)
class Case:
    """One random stream and the join to run on it."""

    seed: int
    batches: list[Batch]
    before_us: int
    after_us: int
    delays_ms: tuple[int, int]
    key_kind: KeyKind
    shards: int


def make_case(seed: int) -> Case:
    """Return the case of this seed, always the same."""
    rng = random.Random(seed)
    kind = KEY_KINDS[seed % len(KEY_KINDS)]
    large = kind != "bool" and rng.random() < 0.04
    shape = draw_shape(rng, kind, large=large)
    before_us, after_us = draw_window(rng, shape)
    sizes = draw_sizes(rng, large=large)
    return Case(
        seed=seed,
        batches=_draw_batches(rng, shape, sizes),
        before_us=before_us,
        after_us=after_us,
        delays_ms=shape.delays_ms,
        key_kind=kind,
        shards=rng.choice([1, 1, 2, 3, 4, 7, 16]),
    )


def _draw_batches(
    rng: random.Random, shape: Shape, sizes: list[tuple[int, int]]
) -> list[Batch]:
    """Draw the rows batch by batch, some of them right at a past watermark."""
    sides: tuple[list[Row], list[Row]] = ([], [])
    numbers = (itertools.count(), itertools.count())
    batches: list[Batch] = []
    now_us = START_US
    marks_ms: list[int] = []  # the watermarks so far, once they have left 0
    for counts in sizes:
        batch: Batch = ([], [])
        for side in (0, 1):
            for _ in range(counts[side]):
                if sides[side] and rng.random() < shape.repeats:
                    row = rng.choice(sides[side][-50:])
                else:
                    time_us = _draw_time(rng, shape, now_us, side)
                    if marks_ms and rng.random() < shape.overdue / 4:
                        time_us = rng.choice(marks_ms) * 1000 + rng.randint(0, 1)
                    row = _draw_row(rng, shape, next(numbers[side]), time_us)
                sides[side].append(row)
                batch[side].append(row)
        batches.append(batch)
        left, right = ([row for row in rows if is_usable(row)] for rows in sides)
        mark_ms = next_watermark_ms(0, left, right, shape.delays_ms)
        marks_ms += [mark_ms] if mark_ms else []
        now_us += shape.step_us * rng.choice([0, 1, 1, 1, 1, 2, 12])
    return batches


def _draw_time(rng: random.Random, shape: Shape, now_us: int, side: int) -> int:
    time_us = now_us + rng.randint(0, shape.step_us) // shape.grid_us * shape.grid_us
    delay_us = shape.delays_ms[side] * 1000
    if rng.random() < shape.disordered:
        time_us -= rng.randint(0, delay_us) // shape.grid_us * shape.grid_us
    if rng.random() < shape.overdue:
        time_us -= delay_us + shape.step_us * rng.randint(1, 5)
    return time_us + rng.choice([0, 0, 0, 0, 0, 0, 0, 0, -1, 1])


def _draw_row(rng: random.Random, shape: Shape, number: int, time_us: int) -> Row:
    chosen = number
    if shape.keys:
        weights = [(n + 1) ** -shape.steepness for n in range(shape.keys)]
        chosen = rng.choices(range(shape.keys), weights)[0]
    key = key_of(shape.kind, chosen)
    if rng.random() < shape.nulls:
        emptied = rng.randrange(len(key))
        key = tuple(None if n == emptied else value for n, value in enumerate(key))
    time = None if rng.random() < shape.nulls / 4 else time_us
    extra = None if rng.random() < 0.2 else rng.randint(-9, 9)
    return Row(key, time, (number, extra))


def tables(case: Case) -> list[tuple[pa.Table, pa.Table]]:
    """Return the case's micro-batches as (left, right) tables."""
    return [
        (_table(case, left, "left"), _table(case, right, "right"))
        for left, right in case.batches
    ]


def note_of(extra: int | None) -> str | None:
    """Return the left_note that stands for a payload's extra value."""
    return None if extra is None else f"note {extra}"


def _table(case: Case, rows: list[Row], side: str) -> pa.Table:
    columns: dict[str, Any] = {}
    for number, (name, kind) in enumerate(key_fields(case.key_kind)):
        columns[name] = pa.array([row.key[number] for row in rows], kind)
    columns[f"{side}_time"] = pa.array([row.time_us for row in rows], TIME_TYPE)
    columns[f"{side}_id"] = pa.array([row.payload[0] for row in rows], pa.int64())
    extras = [row.payload[1] for row in rows]
    if side == "left":
        columns["left_note"] = pa.array([note_of(n) for n in extras], pa.string())
    else:
        columns["right_amount"] = pa.array(extras, pa.int32())
    return pa.table(columns)
