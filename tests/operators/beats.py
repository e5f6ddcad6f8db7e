"""Hand-computed streams: timestamped arrivals, each with its matches."""

from typing import NamedTuple


class At(NamedTuple):
    """One arrival: its name starts with its side; a pair is written once."""

    name: str
    time_us: int
    matches: str = ""
    late: bool = False
    key: int = 7


class Beat(NamedTuple):
    """A micro-batch: the watermark at its end, arrivals, (left, right) residents."""

    watermark_ms: int
    arrivals: list[At]
    residents: tuple[int, int]


CASES: dict[str, tuple[tuple[int, int], list[Beat]]] = {
    "closed at both ends, whichever row comes first": (
        (1000, 500),
        [
            Beat(0, [At("l1", 5000), At("r1", 8000)], (1, 1)),
            Beat(0, [At("r2", 3999), At("r3", 4000, "l1")], (1, 3)),
            Beat(0, [At("r4", 5500, "l1"), At("r5", 5501)], (1, 5)),
            Beat(0, [At("l2", 7499), At("l3", 7500, "r1")], (3, 5)),
            Beat(0, [At("l4", 9000, "r1"), At("l5", 9001)], (5, 5)),
        ],
    ),
    "late by the watermark of the batch before, and by no other": (
        (10_000, 10_000),
        [
            Beat(20, [At("l1", 15_000), At("r1", 4000)], (1, 0)),
            Beat(20, [At("r2", 20_000, late=True), At("r3", 20_001, "l1")], (1, 1)),
            Beat(30, [At("l2", 1, late=True), At("l3", 20_002, "r3")], (1, 1)),
            Beat(30, [At("r4", 30_000, late=True), At("r5", 30_001, "l3")], (1, 2)),
        ],
    ),
    "expired as soon as nothing on time can match it": (
        (2000, 5000),
        [
            Beat(0, [At("l1", 10_000), At("r1", 10_000, "l1")], (1, 1)),
            Beat(11, [], (1, 1)),
            Beat(12, [], (1, 0)),  # left rows after 12_000 are too far from r1
            Beat(14, [At("l2", 12_001), At("r2", 14_999, "l1 l2")], (2, 1)),
            Beat(15, [At("r3", 15_000, "l1 l2")], (1, 2)),
            Beat(16, [At("r4", 15_001, "l2")], (1, 3)),
            Beat(99, [], (0, 0)),
        ],
    ),
    "on time and expired in the same batch: matched, then gone": (
        (1000, 1000),
        [
            Beat(0, [At("l1", 5000)], (1, 0)),
            Beat(9, [At("r1", 5500, "l1")], (0, 0)),
            Beat(9, [At("r2", 9001)], (0, 1)),
        ],
    ),
    "a row ahead of its time outlives those that came after it": (
        (1000, 1000),
        [
            Beat(0, [At("l1", 90_000)], (1, 0)),
            Beat(0, [At("l2", 5000)], (2, 0)),
            Beat(20, [], (1, 0)),
            Beat(20, [At("l3", 20_001)], (2, 0)),
            Beat(20, [At("r1", 90_500, "l1"), At("r2", 20_500, "l3")], (2, 2)),
        ],
    ),
    "a watermark that goes back is not followed": (
        (0, 1000),
        [
            Beat(50, [At("l1", 49_001)], (1, 0)),
            Beat(10, [At("r1", 50_000, late=True), At("r2", 50_001, "l1")], (1, 1)),
            Beat(10, [At("r3", 50_000, late=True)], (1, 1)),
            Beat(51, [], (0, 0)),
        ],
    ),
    "a window that lies ahead of the left row": (
        (-3000, 5000),
        [
            Beat(0, [At("l1", 10_000), At("r1", 12_999)], (1, 1)),
            Beat(0, [At("r2", 13_000, "l1")], (1, 2)),
            Beat(10, [At("r3", 15_000, "l1"), At("r4", 15_001)], (1, 2)),
            Beat(12, [At("l2", 10_001, "r3 r4")], (2, 1)),
        ],
    ),
    "keys are kept apart, equal rows multiply, a pair is found once": (
        (0, 0),
        [
            Beat(0, [At("l1", 5), At("l2", 5), At("l3", 5, key=9)], (3, 0)),
            Beat(0, [At("r1", 5, "l1 l2"), At("r2", 5, "l3", key=9)], (3, 2)),
            Beat(0, [At("r3", 5, "l1 l2"), At("l4", 5, "r1 r3")], (4, 3)),
        ],
    ),
}
