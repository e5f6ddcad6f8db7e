"""Joins through a relation, and joins of one stream with a relation.

The relation of a join through it is a table, or it comes as a stream of changes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import pyarrow as pa

from shedjoin import Budget, MostImportant, Within, local, policies
from support.related import relation_join, star_join
from support.streams import START_US, TIME_TYPE

from .pairs import BLOBS
from .queries import Query, once
from .streams import BATCHES, STEP_US, draw_silent, draw_time, next_step

_KEYS = 6
_SIZES = (10, 16, 25)
_ON = (("a", "a"), ("b", "b"))
_DELAYS = ("0 seconds", "8 seconds")
BUDGETS = (Budget(rows=12), Budget(rows=25), Budget(memory="4 kB"))
_KEPT = (None, policies.Fifo(), policies.Dgl(), MostImportant("worth"))


class Streams(NamedTuple):
    """Micro-batches of both streams, and of the changes of the relation."""

    left: list[pa.Table]
    right: list[pa.Table]
    changes: list[pa.Table]


@cache
def make_streams(seed: int) -> Streams:
    """Return the streams of this seed, always the same."""
    rng = random.Random(seed)
    text, silent = seed % 2 == 1, draw_silent(rng)
    now_us, streams, active = START_US, Streams([], [], []), set[tuple[int, int]]()
    for number in range(BATCHES):
        for key, tables in (("a", streams.left), ("b", streams.right)):
            size = 0 if number in silent else rng.choice(_SIZES)
            tables.append(_rows(rng, key, 100 * number, size, now_us, text=text))
        count = 14 if number == 0 else rng.choice((0, 3, 6))
        streams.changes.append(_changes(rng, active, count, now_us, text=text))
        now_us += next_step(rng)
    return streams


def _rows(
    rng: random.Random, key: str, first: int, size: int, now_us: int, *, text: bool
) -> pa.Table:
    times = [draw_time(rng, now_us) for _ in range(size)]
    return pa.table(
        {
            "t": pa.array(times, TIME_TYPE),
            key: _keys([rng.randrange(_KEYS) for _ in range(size)], text=text),
            f"{key}_id": pa.array(range(first, first + size), pa.int64()),
            "worth": pa.array([rng.randrange(9) for _ in range(size)], pa.int32()),
        }
    )


def _changes(
    rng: random.Random,
    active: set[tuple[int, int]],
    count: int,
    now_us: int,
    *,
    text: bool,
) -> pa.Table:
    """Changes of a relation; some come after rows that they concern."""
    changes = []
    for _ in range(count):
        pair = rng.randrange(_KEYS), rng.randrange(_KEYS)
        what = "delete" if pair in active else "insert"
        active ^= {pair}
        changes.append((what, *pair, now_us + rng.randrange(-STEP_US, STEP_US)))
    return pa.table(
        {
            "what": pa.array([what for what, *_ in changes], pa.string()),
            "a": _keys([a for _, a, _, _ in changes], text=text),
            "b": _keys([b for _, _, b, _ in changes], text=text),
            "at": pa.array([at for *_, at in changes], TIME_TYPE),
        }
    )


def _keys(numbers: list[int], *, text: bool) -> pa.Array:
    if text:
        return pa.array([f"key {number}" for number in numbers], pa.string())
    return pa.array(numbers, pa.int64())


def _facts(seed: int) -> pa.Table:
    """The relation as a table: each insertion with its time and the end, if any."""
    changes = pa.concat_tables(make_streams(seed).changes).to_pylist()
    rows: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for change in changes:
        own = rows.setdefault((change["a"], change["b"]), [])
        if change["what"] == "insert":
            fact = {"a": change["a"], "b": change["b"], "from": change["at"]}
            own.append(fact | {"to": None})
        else:
            own[-1]["to"] = change["at"]
    kind = make_streams(seed).changes[0].schema.field("a").type
    schema = [("a", kind), ("b", kind), ("from", TIME_TYPE), ("to", TIME_TYPE)]
    facts = [fact for own in rows.values() for fact in own]
    return pa.Table.from_pylist(facts, pa.schema(schema))


def star(stream: int, *, table: bool) -> Callable[..., local.Run]:
    """Join two streams through a relation; budget, policy and delay are left open."""
    left, right, changes = make_streams(stream)
    batches: list[tuple[pa.Table, ...]] = list(zip(left, right, changes, strict=True))
    relation = changes[0].slice(0, 0)
    when: dict[str, Any] = {"change": ("what", "at")}
    if table:
        batches = list(zip(left, right, strict=True))
        relation, when = _facts(stream), {"valid": ("from", "to")}
    return partial(
        star_join,
        batches,
        relation,
        on=_ON,
        within=Within(
            before="6 seconds", after=("9 seconds", "18 seconds")[stream % 2]
        ),
        time=("t", "t"),
        lateness="6 seconds",
        blobs=BLOBS,
        **when,
    )


def star_table(stream: int, *, other: bool) -> Query:
    """Return a join through a table; there is no ``other`` one."""
    del other
    return Query(star(stream, table=True), {0: {}}, table=True)


def star_table_budgeted(stream: int, *, other: bool) -> Query:
    """Return a join through a table with a memory budget."""
    call = star(stream, table=True)
    return Query(call, {0: kept(stream, other=other)}, table=True)


def star_changes(stream: int, *, other: bool) -> Query:
    """Return a join through a stream of changes; there is no ``other`` one."""
    del other
    return once(star(stream, table=False), **delayed(stream))


def star_changes_budgeted(stream: int, *, other: bool) -> Query:
    """Return a join through a stream of changes with a memory budget."""
    options = kept(stream, other=other) | delayed(stream)
    return once(star(stream, table=False), **options)


def relation(stream: int, *, other: bool) -> Query:
    """Return a join of one stream with a changing relation; there is no ``other``."""
    del other
    left, _, changes = make_streams(stream)
    return once(
        partial(
            relation_join,
            list(zip(left, changes, strict=True)),
            changes[0].slice(0, 0),
            on="a",
            time="t",
            change=("what", "at"),
            lateness="6 seconds",
            blobs=BLOBS,
        )
    )


def delayed(stream: int) -> dict[str, str]:
    """Choose how long rows wait for changes."""
    return {"delay": _DELAYS[stream // 2 % len(_DELAYS)]}


def kept(stream: int, *, other: bool) -> dict[str, Any]:
    """Choose budget and policy; ``other`` has another policy."""
    keep = policies.Rand() if other else _KEPT[stream % len(_KEPT)]
    return {"budget": BUDGETS[stream // 3 % len(BUDGETS)], "keep": keep}
