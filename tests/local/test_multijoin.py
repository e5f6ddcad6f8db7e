"""Joins of two to five streams give what every combination of rows gives."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

import pyarrow as pa
import pytest

from oracle.multijoin import Batch, Row, Streams, multijoin
from shedjoin import Within, local
from shedjoin.errors import ParameterError
from support.asked import asked

KEYS: dict[str, Callable[[int], tuple[object, ...]]] = {
    "integer": lambda n: (n,),
    "text": lambda n: (f"key {n}",),
    "pair": lambda n: (n // 2, f"{n % 2}"),
}
TYPES = {"integer": ["int64"], "text": ["string"], "pair": ["int64", "string"]}


class Case:
    """A random join; rows come out of order, and some late."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.names = "abcde"[: rng.randint(2, 5)]
        self.kind = rng.choice(sorted(KEYS))
        self.streams = Streams(
            {name: rng.choice([0, 1, 3, 7]) for name in self.names},
            {name: rng.choice([0, 2, 5]) for name in self.names},
        )
        now, ids = 100, count()
        self.batches: list[Batch] = []
        for _ in range(rng.randint(2, 7)):
            batch = {
                name: [
                    Row(
                        KEYS[self.kind](rng.randrange(4)),
                        now + rng.randint(-6, 4),
                        next(ids),
                    )
                    for _ in range(rng.choice([0, 1, 3, 6]))
                ]
                for name in self.names
            }
            self.batches.append(batch)
            now += rng.choice([0, 2, 5])

    def table(self, name: str, rows: Batch) -> pa.Table:
        """Rows of a stream as columns."""
        columns = zip(*(row.key for row in rows[name]), strict=True)
        values = list(columns) or [()] * len(TYPES[self.kind])
        keys = {
            f"k{n}": pa.array(own, kind)
            for n, (own, kind) in enumerate(zip(values, TYPES[self.kind], strict=True))
        }
        times = [1_000_000 * row.time_s for row in rows[name]]
        time = {f"t_{name}": pa.array(times, pa.timestamp("us"))}
        return pa.table(
            keys | time | {"id": pa.array([row.id for row in rows[name]], "int64")}
        )

    def run(self, **settings: Any) -> local.Run:  # noqa: ANN401  (of local.multijoin)
        """Join it."""
        keep, delay = self.streams
        return local.multijoin(
            [{n: self.table(n, batch) for n in self.names} for batch in self.batches],
            on=["k0", "k1"] if self.kind == "pair" else "k0",
            within={name: f"{seconds} seconds" for name, seconds in keep.items()},
            time={name: f"t_{name}" for name in self.names},
            lateness={name: f"{seconds} seconds" for name, seconds in delay.items()},
            **asked(settings),
        )


def results_of(case: Case, batch: local.LocalBatch) -> Counter[object]:
    ids = (batch.results[f"id_{name}"].to_pylist() for name in case.names)
    return Counter(zip(*ids, strict=True))


@pytest.mark.parametrize("first", range(0, 300, 25))
def test_equals_the_oracle(first: int) -> None:
    for seed in range(first, first + 25):
        case = Case(seed)
        found = case.run(
            shards=1 + seed % 2, restart_every=seed % 3, blobs=1 + seed % 3
        )
        expected = multijoin(case.batches, case.streams)
        for number, batch in enumerate(found.batches):
            assert results_of(case, batch) == expected[number], (seed, number)
            assert batch.report.matched == expected[number].total()


def test_the_cases_reach_every_corner() -> None:
    cases = [Case(seed) for seed in range(300)]
    assert {len(case.names) for case in cases} == {2, 3, 4, 5}
    runs = [(case, multijoin(case.batches, case.streams)) for case in cases]
    several = [case for case, found in runs if sum(map(len, found)) > 20]
    assert {len(case.names) for case in several} == {2, 3, 4, 5}
    reports = [case.run().report for case in cases[:60]]
    assert sum(any(report.late) for report in reports) >= 15
    assert sum(any(report.expired) for report in reports) > 20


def test_two_streams_are_the_join_of_two() -> None:
    """``Within(before=w_right, after=w_left)``."""
    batches = local.clicks(impressions=2000, batches=5, seed=3)
    shared: dict[str, Any] = {"on": "ad_id", "shards": 2}
    one = local.join(
        batches,
        within=Within(before="1 minute", after="9 minutes"),
        time=("shown_at", "clicked_at"),
        **asked(shared),
    )
    other = local.multijoin(
        [{"left": left, "right": right} for left, right in batches],
        within={"left": "9 minutes", "right": "1 minute"},
        time={"left": "shown_at", "right": "clicked_at"},
        **asked(shared),
    )
    assert one.results.num_rows > 100
    assert one.results.equals(other.results)
    assert one.report == other.report


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"on": {"a": "k", "b": "k"}}, "on is given for"),
        ({"on": {"a": "k", "b": "k", "c": ["k", "t_c"]}}, "same number of key columns"),
        ({"within": {"a": "1 second"}}, "within is given for"),
        ({"within": "-1 second"}, "negative duration"),
        ({"time": {"a": "t_a"}}, "time is given for"),
    ],
)
def test_arguments_are_checked(change: dict[str, Any], problem: str) -> None:
    def table(name: str) -> pa.Table:
        return pa.table({"k": [1], f"t_{name}": pa.array([5], pa.timestamp("us"))})

    usual: dict[str, Any] = {
        "on": "k",
        "within": "1 second",
        "time": {name: f"t_{name}" for name in "abc"},
    }
    batch = {name: table(name) for name in "abc"}
    assert local.multijoin([batch], **asked(usual)).report.matched == 1
    with pytest.raises(ParameterError, match=problem):
        local.multijoin([batch], **asked(usual | change))
    with pytest.raises(ParameterError, match="1 streams are given"):
        local.multijoin([{"a": batch["a"]}], **asked(usual))
