"""Arrivals look at the residents of chosen lags, and at no others."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from shedjoin import Band, Budget, local
from shedjoin.operators.multiway import harvesting
from shedjoin.operators.multiway.harvesting import Configuration, Harvesting
from shedjoin.operators.multiway.lags import BUCKETS, Looks, lag_edges, stretches
from shedjoin.spec.streams import JoinSpec
from support.asked import asked

NAMES = "abc"
KEEP_S = {"a": 4, "b": 7, "c": 2}
SECOND = 1_000_000


class Row(NamedTuple):
    batch: int
    stream: int
    time_us: int
    x: int
    id: int


def rows_of(seed: int, batches: int = 8) -> list[Row]:
    """Rows in random order of time, so that lags are also below 0."""
    random = Random(seed)
    return [
        Row(
            batch,
            stream,
            (100 + batch) * SECOND + random.randrange(-2 * SECOND, 2 * SECOND),
            random.randrange(6),
            1000 * batch + 100 * stream + n,
        )
        for batch in range(batches)
        for stream in range(len(NAMES))
        for n in range(random.randrange(8))
    ]


def tables_of(rows: list[Row]) -> list[dict[str, pa.Table]]:
    time = pa.timestamp("us")

    def table(own: list[Row]) -> pa.Table:
        return pa.table(
            {
                "at": pa.array([row.time_us for row in own], pa.int64()).cast(time),
                "x": pa.array([row.x for row in own], pa.int64()),
                "id": pa.array([row.id for row in own], pa.int64()),
            }
        )

    return [
        {
            name: table([r for r in rows if (r.batch, r.stream) == (batch, stream)])
            for stream, name in enumerate(NAMES)
        }
        for batch in range(1 + max(row.batch for row in rows))
    ]


def joined(rows: list[Row], **settings: Any) -> local.Run:  # noqa: ANN401
    return local.multijoin(
        tables_of(rows),
        on=Band("x", 1),
        within={name: f"{keep} seconds" for name, keep in KEEP_S.items()},
        time=dict.fromkeys(NAMES, "at"),
        lateness="1 hour",
        budget=Budget(cpu=0.5),
        **asked(settings),
    )


def ids(run: local.Run) -> list[tuple[int, ...]]:
    columns = (run.results[f"id_{name}"].to_pylist() for name in NAMES)
    return sorted(zip(*columns, strict=True))


def expected(rows: list[Row], looks: tuple[Looks | None, ...]) -> list[tuple[int, ...]]:
    """Every combination; it is found by whichever row comes last."""
    found = []
    by_stream = [[r for r in rows if r.stream == n] for n in range(len(NAMES))]
    for some in product(*by_stream):
        latest = max(row.time_us for row in some)
        near = max(row.x for row in some) - min(row.x for row in some) <= 1
        kept = all(
            latest - row.time_us <= keep * SECOND
            for row, keep in zip(some, KEEP_S.values(), strict=True)
        )
        last = max(some)
        own = looks[last.stream]
        if near and kept and own is not None:
            chosen = all(
                any(
                    low <= last.time_us - row.time_us <= high
                    for low, high in own.lags[row.stream]
                )
                for row in some
                if row is not last
            )
            if chosen:
                found.append(tuple(row.id for row in some))
    return sorted(found)


def random_looks(spec: JoinSpec, seed: int) -> tuple[Looks | None, ...]:
    random = Random(seed)
    looks: list[Looks | None] = []
    for stream in range(len(NAMES)):
        others = [other for other in range(len(NAMES)) if other != stream]
        random.shuffle(others)
        lags = {
            other: stretches(
                lag_edges(spec, stream, other),
                random.sample(range(BUCKETS), random.choice([5, 20, 35, BUCKETS])),
            )
            for other in others
        }
        looks.append(Looks(tuple(others), lags) if random.random() < 0.9 else None)
    return tuple(looks)


@pytest.mark.parametrize("seed", range(6))
def test_found_is_what_lies_at_the_chosen_lags(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[tuple[Looks | None, ...]] = []

    def fixed(self: Harvesting) -> Configuration:
        used.append(random_looks(self._store.spec, seed))
        return Configuration(used[-1], shred=0.0)

    rows = rows_of(seed)
    exact = ids(joined(rows))
    monkeypatch.setattr(harvesting.Harvesting, "configured", fixed)
    found = ids(joined(rows))
    assert found == expected(rows, used[0])
    assert set(found) <= set(exact)
    assert 0 < len(found) < len(exact)
    for settings in (
        {"restart_every": 2},
        {"blobs": 3, "shuffle_seed": 5},
        {"shards": 3},
    ):
        assert ids(joined(rows, **settings)) == found, settings


@pytest.mark.parametrize("seed", range(3))
def test_all_lags_give_the_exact_join(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(seed)

    def whole(self: Harvesting) -> Configuration:
        spec = self._store.spec
        looks = []
        for stream in range(3):
            others = tuple(other for other in range(3) if other != stream)
            every = {
                other: stretches(lag_edges(spec, stream, other), range(BUCKETS))
                for other in others
            }
            assert all(len(each) == 1 for each in every.values())
            looks.append(Looks(others, every))
        return Configuration(tuple(looks), shred=0.3)

    exact = ids(joined(rows))
    monkeypatch.setattr(harvesting.Harvesting, "configured", whole)
    assert ids(joined(rows)) == exact
    assert len(exact) > 50
