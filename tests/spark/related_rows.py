"""Rows of two streams and a table that relates them, written while a query runs."""

from __future__ import annotations

import random
import time
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from math import inf
from pathlib import Path
from threading import Event, Lock
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from shedjoin.versions.folder import VersionFolder
from support.postgresql import Server

KEYS, ROWS, PAUSE_S = 6, 6, 0.5
WINDOW_S, STALE_S = 3, 3
LEAD_S = 5
"""More than a busy machine takes from a reading to its version."""

_COMMIT_S = 2
"""A state is seen some time after it is written down: when that is committed."""

Pair = tuple[int, int]


class Fact(NamedTuple):
    """A relation row, active from ``begin`` on and before ``end``, in seconds."""

    begin: float
    end: float


class State(NamedTuple):
    """What a table held, and since when."""

    at: float
    pairs: frozenset[Pair]


class Writers:
    """Writes rows of both streams to files, and changes the table, again and again.

    A row has the time at which it is written. Each transaction of the table also writes
    down what the table holds after it.
    """

    def __init__(self, folder: Path, server: Server, seed: int) -> None:
        self._folder, self._server = folder, server
        self._rng = random.Random(seed)
        self._stopped, self._changing = Event(), Lock()
        self._done: Future[None] = Future()
        self.rows: dict[str, list[tuple[float, int]]] = {"a": [], "b": []}
        for key in self.rows:
            (folder / key).mkdir(parents=True)
        self._write()
        server.run("; ".join((*_MADE, _HELD)))

    @contextmanager
    def working(self) -> Iterator[None]:
        """Write while the block runs; what goes wrong is raised at its end."""
        with ThreadPoolExecutor(1) as pool:
            self._done = pool.submit(self._work)
            try:
                yield
            finally:
                self._stopped.set()
            self.stop()

    def stop(self) -> None:
        """End writing."""
        self._stopped.set()
        self._done.result()

    @contextmanager
    def without_database(self) -> Iterator[None]:
        """Stop the server while the block runs; rows of the streams go on."""
        with self._changing:
            self._server.stop()
        yield
        with self._changing:
            self._server.start()

    def held(self) -> list[State]:
        """All that the table has held, by the database's own account."""
        found = []
        for at, pairs in self._server.rows("select at, pairs from held order by at"):
            words = (word.split(",") for word in pairs.split())
            pairs_of = frozenset((int(a), int(b)) for a, b in words)
            found.append(State(float(at), pairs_of))
        return found

    def joined(self, facts: dict[Pair, list[Fact]]) -> Counter[tuple[int, int]]:
        """By definition: rows are known by their places in their streams."""
        left, right = self.rows["a"], self.rows["b"]
        times = [t for t, _ in right]
        found: Counter[tuple[int, int]] = Counter()
        for r, (t, a) in enumerate(left):
            first = bisect_left(times, t - WINDOW_S - 1)
            for s in range(first, bisect_right(times, t + WINDOW_S + 1)):
                u, b = right[s]
                near = abs(_us(t) - _us(u)) <= 1e6 * WINDOW_S
                for fact in facts[a, b] if near else ():
                    found[r, s] += fact.begin <= min(t, u) and max(t, u) < fact.end
        return +found

    def _work(self) -> None:
        while not self._stopped.wait(PAUSE_S):
            self._write()
            with self._changing:
                if self._server.pid is not None:
                    self._change()

    def _write(self) -> None:
        """One more file of each stream."""
        for key, rows in self.rows.items():
            now = round(time.time(), 6)
            new = [(now, self._rng.randrange(KEYS)) for _ in range(ROWS)]
            ids = range(len(rows), len(rows) + ROWS)
            rows.extend(new)
            at, value = zip(*new, strict=True)
            times = pa.array(map(_us, at), pa.timestamp("us", "UTC"))
            table = pa.table({"t": times, key: pa.array(value, pa.int32())})
            table = table.append_column(f"{key}_id", pa.array(ids))
            path = self._folder / key / f"{len(rows):06d}.parquet"
            pq.write_table(table, path.with_suffix(".part"))
            path.with_suffix(".part").rename(path)

    def _change(self) -> None:
        """Some pairs come and some go, in one transaction of a process of its own."""
        rng = self._rng
        pairs = [(rng.randrange(KEYS), rng.randrange(KEYS)) for _ in range(3)]
        values = ", ".join(map(str, pairs))
        self._server.run(
            f"begin; delete from related where a = {rng.randrange(KEYS)};"  # noqa: S608
            f"insert into related values {values} on conflict do nothing;"
            f"{_HELD}; commit"
        )


_MADE = (
    "drop table if exists related, held",
    "create table related (a int, b int, primary key (a, b))",
    "create table held (at float8, pairs text)",
    "insert into related select n % 6, n % 5 from generate_series(1, 30) n",
)
_HELD = (
    "insert into held select extract(epoch from clock_timestamp()), "
    "coalesce(string_agg(a || ',' || b, ' '), '') from related"
)


def versions(log: Path) -> list[State]:
    """What the readings of the table have found, from when on it acts."""
    folder, pairs, found = VersionFolder(log), frozenset[Pair](), list[State]()
    for version in range(1, folder.last() + 1):
        rows = [
            row for part in folder.read(version, version) for row in part.to_pylist()
        ]
        for row in sorted(rows, key=lambda row: row["change"] == "insert"):
            pair = frozenset([(row["a"], row["b"])])
            pairs = pairs | pair if row["change"] == "insert" else pairs - pair
        at = rows[0]["at"]
        found.append(State(-inf if at is None else at.timestamp(), pairs))
    return found


def facts_of(states: list[State]) -> dict[Pair, list[Fact]]:
    """When pairs were related, as a table with times would have it."""
    facts: dict[Pair, list[Fact]] = defaultdict(list)
    open_since: dict[Pair, float] = {}
    for at, pairs in states:
        for pair in open_since.keys() - pairs:
            facts[pair].append(Fact(open_since.pop(pair), at))
        for pair in pairs - open_since.keys():
            open_since[pair] = at
    for pair, begin in open_since.items():
        facts[pair].append(Fact(begin, inf))
    return facts


def check_readings(found: list[State], held: list[State]) -> None:
    """Each reading shows the table as it was between the one before and its own end."""
    last, before = 0, -inf
    for at, pairs in found:
        read = at - LEAD_S if at > -inf else held[0].at
        fits = (
            place
            for place, state in enumerate(held[last:], last)
            if state.pairs == pairs
            and (place + 1 == len(held) or held[place + 1].at + _COMMIT_S >= before)
        )
        last = next(fits)
        assert held[last].at <= read or at == -inf
        before = read
    assert found[-1].pairs == held[-1].pairs


def _us(seconds: float) -> int:
    return round(1e6 * seconds)
