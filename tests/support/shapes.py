"""What a random stream case looks like before any row is drawn."""

import random
from dataclasses import dataclass

from .keys import KeyKind

DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Shape:
    """What the rows of a case look like."""

    kind: KeyKind
    step_us: int  # event time that passes in a batch, more or less
    grid_us: int  # times are multiples of it, so that window ends are hit exactly
    delays_ms: tuple[int, int]
    keys: int  # 0: every row of a side has its own key
    steepness: float  # weight of the n-th key: n ** -steepness
    nulls: float  # shares of rows
    repeats: float
    disordered: float
    overdue: float


def draw_shape(rng: random.Random, kind: KeyKind, *, large: bool) -> Shape:
    """Return a shape; a large stream gets more keys, so that it stays cheap."""
    step_us = rng.choice([50, 3000, 1_000_000, 60_000_000, 3_600_000_000])
    step_ms = max(step_us // 1000, 1)
    delays = [0, 0, 1, step_ms // 2, step_ms, 3 * step_ms, 20 * step_ms]
    few = [2, 4, 8, 20, 0]
    many = [100, 300, 0]
    return Shape(
        kind=kind,
        step_us=step_us,
        grid_us=rng.choice([1, step_us // 10, step_us // 10, step_us // 3, step_us]),
        delays_ms=(rng.choice(delays), rng.choice(delays)),
        keys=2 if kind == "bool" else rng.choice(many if large else few),
        steepness=rng.choice([0.0, 0.8, 1.2]),
        nulls=rng.choice([0.0, 0.0, 0.05, 0.3]),
        repeats=rng.choice([0.0, 0.05, 0.3]),
        disordered=rng.choice([0.0, 0.1, 0.5]),
        overdue=rng.choice([0.0, 0.05, 0.2]),
    )


def draw_window(rng: random.Random, shape: Shape) -> tuple[int, int]:
    """Return (before, after), on the grid most of the time."""
    unit_us = max(shape.grid_us, shape.step_us // 10)
    near = unit_us * rng.randint(1, 9)
    far = near + unit_us * rng.randint(1, 9)
    steps = shape.step_us * rng.randint(1, 3)
    windows = [
        (near, far),
        (far, near),
        (steps, steps),
        (0, steps),
        (steps, 0),
        (0, 0),
        (-near, near),  # zero width, away from the row
        (near, -near),
        (-near, far),
        (-near, steps + near),
        (steps + near, -near),
        (rng.randint(0, 5), rng.randint(0, 5)),
        (30 * DAY_US, 365 * DAY_US),
    ]
    return rng.choice(windows)


def draw_sizes(rng: random.Random, *, large: bool) -> list[tuple[int, int]]:
    """Return how many rows each side gets in each of 1 to 8 micro-batches."""
    batches = rng.randint(1, 8)
    mean = (1600 if large else rng.choice([30, 100, 170, 170])) // (2 * batches)
    sizes = [
        [0 if rng.random() < 0.08 else rng.randint(1, 2 * mean) for _ in range(2)]
        for _ in range(batches)
    ]
    if rng.random() < 0.25:
        sizes[rng.randrange(batches)][rng.randrange(2)] *= 2 if large else 5  # a burst
    if rng.random() < 0.2:
        sizes[rng.randrange(batches)] = [0, 0]
    if rng.random() < 0.03:
        silent = rng.randrange(2)
        for size in sizes:
            size[silent] = 0
    return [(left, right) for left, right in sizes]
