"""Rule (8): under a budget, rows leave first whose relation rows have all ended.

The slow simulation here is the paper's: at an instant the expired and the unrelated
leave, newcomers that nothing relates are not taken, the lowest scores leave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from effort import cases
from shedjoin import Budget, MostImportant, Options, Successive, Within
from shedjoin.policies import Fifo, Policy, Simp, UntilExpiry
from shedjoin.spec.recompute import DEFAULT, Recompute
from support.related import star_join

ON = (("a", "a"), ("b", "b"))
FIRST, ROWS, M = 100, 60, 8
ALWAYS = 10**6
Score = Callable[["Held"], float]


class Held(NamedTuple):
    """A row in memory; its time is an instant from 0 on."""

    time: int
    key: int
    importance: float


class Case(NamedTuple):
    """One row of each stream at every instant, and relation rows (a, b, begin, end)."""

    streams: tuple[list[Held], list[Held]]
    relation: list[tuple[int, int, int, int]]


def drawn(seed: int) -> Case:
    """Draw a relation most of whose rows last for a part of a window."""
    rng = np.random.default_rng(seed)
    streams: tuple[list[Held], ...] = tuple(
        [
            Held(time, int(rng.integers(4)), float(rng.integers(1, 9)))
            for time in range(ROWS)
        ]
        for _ in range(2)
    )
    relation = []
    for pair in range(16):
        begin = int(rng.integers(-5, 10))
        while begin < ROWS and rng.random() < 0.9:
            end = begin + int(rng.integers(1, 2 * M))
            relation.append((pair // 4, pair % 4, begin, end))
            begin = end + int(rng.integers(0, 15))
    return Case((streams[0], streams[1]), relation)


def last_end(case: Case, side: int, row: Held) -> int:
    """When the last relation row ends that is active at the time of a row."""
    own = [f for f in case.relation if f[side] == row.key and f[2] <= row.time < f[3]]
    return max((f[3] for f in own), default=-ALWAYS)


def related(case: Case, left: Held, right: Held) -> bool:
    return any(
        (a, b) == (left.key, right.key)
        and begin <= min(left.time, right.time)
        and max(left.time, right.time) < end
        for a, b, begin, end in case.relation
    )


def slow(case: Case, score: Score, memory: int, *, sheds_first: bool) -> set[Any]:
    """Pairs of times that are found."""
    held: list[list[Held]] = [[], []]
    pairs = set()
    for now in range(ROWS):
        new = [stream[now] for stream in case.streams]
        before = []
        for side, own in enumerate(held):
            own[:] = [
                row
                for row in own
                if row.time + M > now and last_end(case, side, row) > now
            ]
            before.append(list(own))
            if last_end(case, side, new[side]) > now:
                own.append(new[side])
            while len(own) > memory:
                own.remove(min(own, key=lambda row: (score(row), row.time)))
        met = held if sheds_first else before
        pairs |= {(now, s.time) for s in met[1] if related(case, new[0], s)}
        pairs |= {(r.time, now) for r in met[0] if related(case, r, new[1])}
        if related(case, *new):
            pairs.add((now, now))
    return pairs


def times(instants: list[int]) -> pa.Array:
    return pa.array([1_000_000 * (FIRST + at) for at in instants], pa.timestamp("us"))


def table(key: str, rows: list[Held]) -> pa.Table:
    return pa.table(
        {
            "t": times([row.time for row in rows]),
            key: pa.array([row.key for row in rows], pa.int64()),
            f"{key}_at": pa.array([row.time for row in rows], pa.int64()),
            "importance": pa.array([row.importance for row in rows], pa.float64()),
        }
    )


def facts(rows: list[tuple[int, int, int, int]]) -> pa.Table:
    a, b, begin, end = ([row[place] for row in rows] for place in range(4))
    keys = pa.array(a, pa.int64()), pa.array(b, pa.int64())
    return pa.table([*keys, times(begin), times(end)], ["a", "b", "from", "to"])


def found(
    case: Case,
    policy: Policy,
    memory: int,
    discipline: Any,  # noqa: ANN401
    *,
    fixed: bool,
    per_batch: int = ROWS,
    recompute: Recompute = DEFAULT,
) -> set[tuple[int, int]]:
    batches: list[tuple[pa.Table, ...]] = []
    for first in range(0, ROWS, per_batch):
        part = slice(first, first + per_batch)
        batch = [table(*each) for each in zip("ab", (s[part] for s in case.streams))]  # noqa: B905
        changes = [] if fixed else [facts([] if first else case.relation)]
        batches.append((*batch, *changes))
    run = star_join(
        batches,
        facts(case.relation if fixed else []),
        on=ON,
        within=Within(before=f"{M - 1} seconds", after=f"{M - 1} seconds"),
        time=("t", "t"),
        valid=("from", "to"),
        lateness="20 seconds",
        budget=Budget(rows=2 * memory, split=0.5),
        keep=MostImportant("importance", by=policy),
        options=Options(discipline=discipline, recompute=recompute),
    )
    pairs = zip(*(run.results[name].to_pylist() for name in ("a_at", "b_at")))  # noqa: B905
    counted = Counter(pairs)
    assert set(counted.values()) <= {1}
    return set(counted)


POLICIES: list[tuple[Policy, Score]] = [
    (Fifo(), lambda row: row.time),
    (UntilExpiry(), lambda row: -row.time),
    (Simp(), lambda row: row.importance),
]


@pytest.mark.parametrize("fixed", [True, False], ids=["table", "changes"])
@pytest.mark.parametrize("discipline", ["shed_then_probe", "probe_then_shed"])
@pytest.mark.parametrize(("policy", "score"), POLICIES, ids=lambda each: str(each)[:8])
def test_equals_the_paper(
    policy: Policy, score: Score, discipline: str, fixed: bool
) -> None:
    """However late the watermark is: who leaves goes by the clock."""
    results = 0
    for seed in range(cases(12)):
        case, memory = drawn(seed), 1 + seed % 4
        want = slow(case, score, memory, sheds_first=discipline == "shed_then_probe")
        settings: dict[str, Any] = {"per_batch": 1 + 17 * (seed % 5)}
        if seed % 2:
            settings["recompute"] = Successive()
        got = found(case, policy, memory, discipline, fixed=fixed, **settings)
        assert got == want, seed
        results += len(want)
    assert results > 100
