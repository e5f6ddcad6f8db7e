"""Hand-computed streams: timestamped arrivals, each with its matches.

An arrival names the arrivals of its own or an earlier batch that it matches; each
pair is written once, at the arrival that is listed later.
"""

from typing import Any, NamedTuple


class At(NamedTuple):
    """One arrival and what must come of it."""

    batch: int
    name: str
    """Starts with l or r, the side."""
    time_us: int | None
    matches: str = ""
    late: bool = False
    key: tuple[Any, ...] = ("a",)


class Story(NamedTuple):
    """A stream with, per micro-batch, the watermark and (left, right) alive."""

    about: str
    window_us: tuple[int, int]
    arrivals: list[At]
    watermarks_ms: list[int]
    alive: list[tuple[int, int]]
    delays_ms: tuple[int, int] = (0, 0)


STORIES = [
    Story(
        "closed at both ends",
        (10, 5),
        [
            At(0, "l", 1000),
            At(0, "r1", 989),
            At(0, "r2", 990, "l"),
            At(0, "r3", 1005, "l"),
            At(0, "r4", 1006),
        ],
        [0],
        [(1, 4)],
    ),
    Story(
        "closed at both ends when the right row is there first; W floors to 1 ms",
        (10, 5),
        [
            At(0, "r", 1000),
            At(1, "l1", 994),
            At(1, "l2", 995, "r"),
            At(1, "l3", 1010, "r"),
            At(1, "l4", 1011),
            At(2, "r2", 1999),
        ],
        [0, 0, 1],  # after batch 1: min(1011 us, 1000 us) is 1 ms
        [(0, 1), (4, 1), (2, 2)],  # l1 (to 999) and l2 (to 1000) are dead
    ),
    Story(
        "late at the watermark, punctual one microsecond after it",
        (10_000, 10_000),
        [
            At(0, "l0", 5000),
            At(0, "r0", 5999, "l0"),
            At(2, "r1", 5000, late=True),
            At(2, "r2", 5001, "l0"),
            At(2, "l1", 4999, late=True),
            At(2, "l2", 5001, "r0 r2"),
        ],
        [0, 5, 5],
        [(1, 1), (1, 1), (2, 2)],
    ),
    Story(
        "lateness lags a batch: a row dead on arrival in batch 1 still matches there",
        (2000, 2000),
        [
            At(0, "l0", 10_000),
            At(0, "r0", 10_000, "l0"),
            At(1, "l1", 1000),
            At(1, "r1", 2000, "l1"),
            At(2, "r2", 2000, late=True),
            At(2, "r3", 12_000, "l0"),
        ],
        [0, 10, 10],
        [(1, 1), (1, 1), (1, 2)],
    ),
    Story(
        "a null key value or a null time never counts and moves no watermark",
        (1000, 1000),
        [
            At(0, "l0", 5000, key=("a", 1)),
            At(0, "l1", 9000, key=("a", None)),
            At(0, "r0", 5000, "l0", key=("a", 1)),
            At(0, "r1", 9000, key=("a", None)),
            At(0, "r3", None, key=("a", 1)),
            At(1, "r4", 9000, key=(None, 1)),
            At(2, "l2", 5001, "r0", key=("a", 1)),
        ],
        [0, 5, 5],
        [(1, 1), (1, 1), (2, 1)],
    ),
    Story(
        "a pair is found once: in its batch, or when its second row arrives",
        (0, 0),
        [
            At(0, "l0", 1),
            At(0, "r0", 1, "l0"),
            At(0, "r1", 1, "l0"),
            At(0, "r2", 1, key=("b",)),
            At(1, "l1", 1, "r0 r1"),
            At(1, "r3", 1, "l0 l1"),
        ],
        [0, 0],
        [(1, 3), (2, 4)],
    ),
    Story(
        "asymmetric window: only after",
        (0, 10),
        [
            At(0, "l", 100),
            At(0, "r1", 99),
            At(0, "r2", 100, "l"),
            At(0, "r3", 110, "l"),
            At(0, "r4", 111),
        ],
        [0],
        [(1, 4)],
    ),
    Story(
        "negative before: from 5 to 10 after; a right row dies before W passes it",
        (-5000, 10_000),
        [
            At(0, "l", 10_000),
            At(0, "r1", 14_999),
            At(0, "r2", 15_000, "l"),
            At(0, "r3", 15_001, "l"),
            At(1, "r4", 20_000, "l"),
            At(1, "r5", 20_001),
        ],
        [0, 10, 10],
        [(1, 3), (1, 3), (1, 3)],  # r3, r4 and r5 stay: t - 5000 > 10_000
    ),
    Story(
        "negative after: from 10 to 5 before",
        (10, -5),
        [At(0, "l", 100), At(0, "r1", 95, "l"), At(0, "r2", 96)],
        [0],
        [(1, 2)],
    ),
    Story(
        "two delays; the side that is behind sets the watermark",
        (0, 0),
        [
            At(0, "l0", 100_000),
            At(1, "r0", 50_000),
            At(2, "l1", 10_001),
            At(3, "l2", 30_000, late=True),
            At(3, "r1", 99_000),
            At(4, "r2", 30_001),
        ],
        [0, 0, 30, 30, 79, 79],
        [(1, 0), (1, 1), (1, 1), (1, 2), (1, 1), (1, 1)],
        delays_ms=(10, 20),
    ),
    Story(
        "a delay longer than the times so far leaves the watermark at zero",
        (0, 0),
        [At(0, "l0", 9000), At(0, "r0", 9000, "l0"), At(2, "r1", 1)],
        [0, 0, 0],
        [(1, 1), (1, 1), (1, 2)],
        delays_ms=(10, 10),
    ),
    Story(
        "a time of zero or less is late from the start",
        (5, 5),
        [At(0, "l0", 0, late=True), At(0, "r0", -1, late=True), At(0, "l1", 1)],
        [0],
        [(1, 0)],
    ),
    Story(
        "dead when t + reach equals the watermark, alive one microsecond later",
        (3000, 1000),
        [
            At(0, "l0", 4000),
            At(0, "l1", 4001, key=("b",)),
            At(0, "r0", 2000, "l0"),
            At(0, "r1", 2001, "l0"),
            At(0, "l2", 5000, "r0 r1"),
            At(0, "r2", 5000, "l0 l2"),
        ],
        [0, 5],
        [(3, 3), (2, 2)],
    ),
]
