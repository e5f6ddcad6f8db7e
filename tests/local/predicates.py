"""Random joins by predicates, for the library and for the oracle."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from oracle.predicates import Batch, Chosen, Join, Row, all_near, as_single, compares
from shedjoin import Band, Where, local
from shedjoin.spec.predicates import OPERATORS
from shedjoin.types import BoolArray
from support.asked import asked

NAN, INF = float("nan"), float("inf")
RARE = (NAN, INF, -INF, 0.0, -0.0, 1e308, -1e308, 5e-324, 2.0**53, -1.0)
LEAST, MOST = -(2**63), 2**63 - 1
DAY, START = date(2024, 1, 1), datetime(2024, 1, 1)  # noqa: DTZ001  (no zone: plain)

VALUES: dict[str, Callable[[random.Random], Any]] = {
    "double": lambda r: r.choice(
        [r.randint(-4, 4) / 2, r.randint(0, 9) / 10, r.gauss(0, 2), r.choice(RARE)]
    ),
    "single": lambda r: as_single(
        r.choice([r.randint(0, 9) / 10, r.gauss(0, 2), 16777216.0, NAN, INF, -0.0])
    ),
    "long": lambda r: r.choice(
        [r.randint(-4, 4), r.randint(-4, 4), LEAST, MOST, LEAST + 1, MOST - 1]
    ),
    "int": lambda r: r.choice([r.randint(-5, 5), -(2**31), 2**31 - 1]),
    "timestamp": lambda r: START + timedelta(microseconds=r.randint(-3, 3) * 400_000),
    "date": lambda r: DAY + timedelta(days=r.randint(-4, 4)),
    "string": lambda r: r.choice(["", "a", "b", "B", "ä", "ab"]),
}
TYPES = {
    "double": pa.float64(),
    "single": pa.float32(),
    "long": pa.int64(),
    "int": pa.int32(),
    "timestamp": pa.timestamp("us"),
    "date": pa.date32(),
    "string": pa.string(),
}
EPS: dict[str, Sequence[Any]] = {
    "double": [0, 0.1, 0.5, 1, 2.5, 1e308, 5e-324],
    "single": [0, 0.1, 0.5, 1.0],
    "long": [0, 1, 2.5, 10**30, 2**63, 2**64 - 1],
    "int": [0, 1, 2**31],
    "timestamp": ["0 seconds", "400 milliseconds", timedelta(seconds=1)],
    "date": ["0 days", "1 day", timedelta(days=3)],
}
KINDS = ("band", "key and band", "compare", "key and compare", "function", "several")


class Condition(NamedTuple):
    """A predicate, the columns it names by stream, and what it means."""

    given: object
    named: dict[str, list[str]]
    holds: Callable[[Chosen], bool]


def is_close(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> BoolArray:
    """Some function of arrays."""
    found: BoolArray = (a.astype(np.float64) % 3) == (b.astype(np.float64) % 3)
    return found


class Case:
    """A random join; rows come out of order, and some late."""

    def __init__(self, seed: int) -> None:
        self._rng = rng = random.Random(seed)
        self.kind = KINDS[seed % len(KINDS)]
        self.names = "abcde"[: 2 + (seed // len(KINDS)) % 4]
        self.types = {"x": rng.choice(sorted(EPS)), "y": rng.choice(sorted(TYPES))}
        self.mixed = rng.random() < 0.5
        self.conditions = self._conditions()
        # Of many streams with short windows hardly any rows would meet.
        waits = [0, 1, 3, 7] if len(self.names) < 4 else [3, 7, 9]
        keep = {name: rng.choice(waits) for name in self.names}
        delay = {name: rng.choice([0, 2, 5]) for name in self.names}
        named: dict[str, list[str]] = {name: [] for name in self.names}
        for condition in self.conditions:
            for name, columns in condition.named.items():
                named[name] += columns
        self.join = Join(
            keep, delay, named, lambda rows: all(c.holds(rows) for c in self.conditions)
        )
        self.batches = self._batches()

    def _batches(self) -> list[Batch]:
        rng, ids, now = self._rng, count(), 100
        most = {2: 9, 3: 6, 4: 4, 5: 3}[len(self.names)]
        batches: list[Batch] = []
        for _ in range(rng.randint(2, 6)):
            batches.append(
                {
                    name: [
                        Row(now + rng.randint(-6, 4), next(ids), self._values())
                        for _ in range(rng.randint(0, most))
                    ]
                    for name in self.names
                }
            )
            now += rng.choice([0, 2, 5])
        return batches

    def _values(self) -> dict[str, Any]:
        rng = self._rng
        values = {name: VALUES[kind](rng) for name, kind in self.types.items()}
        values["k"] = rng.randrange(3)
        if rng.random() < 0.05:
            values[rng.choice("kxy")] = None
        return values

    def _conditions(self) -> list[Condition]:
        match self.kind:
            case "band":
                return [self._band()]
            case "key and band":
                return [self._key(), self._band()]
            case "compare":
                return [self._compare() for _ in range(self._rng.randint(1, 3))]
            case "key and compare":
                return [self._key(), self._compare()]
            case "function":
                return [self._function()]
        made = [self._key, self._band, self._band, self._compare, self._function]
        return [make() for make in self._rng.sample(made, 3)]

    def column(self, name: str, column: str) -> str:
        """What a column is called in a stream."""
        return f"{column}_of_{name}" if self.mixed else column

    def _key(self) -> Condition:
        named = {name: ["k"] for name in self.names}
        given: object = "k"
        if self.mixed:
            given = {name: self.column(name, "k") for name in self.names}
        return Condition(
            given, named, lambda rows: len({r.values["k"] for r in rows.values()}) == 1
        )

    def _band(self) -> Condition:
        kind = self.types["x"]
        eps = self._rng.choice(EPS[kind])
        columns: Any = "x"
        if self.mixed:
            columns = {name: self.column(name, "x") for name in self.names}
        far = eps
        if isinstance(eps, str):
            number, unit = eps.split()
            far = timedelta(**{unit.rstrip("s") + "s": int(number)})
        return Condition(
            Band(columns, eps),
            {name: ["x"] for name in self.names},
            lambda rows: all_near(
                [row.values["x"] for row in rows.values()], far, single=kind == "single"
            ),
        )

    def _compare(self) -> Condition:
        one, other = self._rng.sample(self.names, 2)
        column, operator = self._rng.choice("xy"), self._rng.choice(OPERATORS)
        given = Where(
            f"{one}.{self.column(one, column)}",
            operator,
            f"{other}.{self.column(other, column)}",
        )
        return Condition(
            given,
            {one: [column], other: [column]},
            lambda rows: compares(
                rows[one].values[column], operator, rows[other].values[column]
            ),
        )

    def _function(self) -> Condition:
        one, other = self._rng.sample(self.names, 2)
        given = Where(
            is_close,
            f"{one}.{self.column(one, 'k')}",
            f"{other}.{self.column(other, 'k')}",
        )
        return Condition(
            given,
            {one: ["k"], other: ["k"]},
            lambda rows: rows[one].values["k"] % 3 == rows[other].values["k"] % 3,
        )

    def table(self, name: str, rows: Batch) -> pa.Table:
        """Rows of a stream as columns."""
        own = rows[name]
        types = {"k": pa.int64()} | {c: TYPES[kind] for c, kind in self.types.items()}
        columns = {
            self.column(name, column): pa.array([r.values[column] for r in own], kind)
            for column, kind in types.items()
        }
        times = [1_000_000 * row.time_s for row in own]
        columns[f"t_{name}"] = pa.array(times, pa.timestamp("us"))
        return pa.table(columns | {"id": pa.array([r.id for r in own], pa.int64())})

    def run(self, **settings: Any) -> local.Run:  # noqa: ANN401  (of local.multijoin)
        """Join it."""
        on: Any = [condition.given for condition in self.conditions]
        return local.multijoin(
            [{n: self.table(n, batch) for n in self.names} for batch in self.batches],
            on=on if len(on) > 1 else on[0],
            within={n: f"{seconds} seconds" for n, seconds in self.join.keep_s.items()},
            time={name: f"t_{name}" for name in self.names},
            lateness={n: f"{wait} seconds" for n, wait in self.join.delay_s.items()},
            **asked(settings),
        )

    def results_of(self, batch: local.LocalBatch) -> Counter[object]:
        """Ids of the rows of each result."""
        ids = (batch.results[f"id_{name}"].to_pylist() for name in self.names)
        return Counter(zip(*ids, strict=True))
