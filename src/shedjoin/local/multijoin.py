"""The join of several streams of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from shedjoin.columns.terms import Streams
from shedjoin.local.delivery import Delivery
from shedjoin.local.run import Run
from shedjoin.local.runner import Runner, check_shards
from shedjoin.local.tables import spec_of
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal, shedding_of, values_of
from shedjoin.spec.budget import Budget
from shedjoin.spec.cells import Cells
from shedjoin.spec.conditions import OnStreams, split_on
from shedjoin.spec.importance import by_stream
from shedjoin.spec.multijoin import (
    WithinEach,
    by_name,
    check_streams,
    stream_keeps_us,
)
from shedjoin.spec.window import Duration, parse_duration


def multijoin(  # noqa: PLR0913  (mirrors shedjoin.multijoin)
    batches: Iterable[Mapping[str, pa.Table]],
    *,
    on: OnStreams,
    within: WithinEach,
    time: Mapping[str, str],
    lateness: Duration | Mapping[str, Duration] = "0 seconds",
    shards: int = 1,
    cells: Cells | None = None,
    restart_every: int = 0,
    blobs: int = 1,
    shuffle_seed: int = 0,
    bucket_seed: int = 0,
    budget: Budget | None = None,
    keep: Goal | Policy | None = None,
    seed: int = 0,
    control: Mapping[int, Sequence[Mapping[str, Any]]] | None = None,
    collect: bool = True,
) -> Run:
    """Join two to five streams given as micro-batches of tables.

    Parameters
    ----------
    batches : iterable of dict
        The micro-batches, in order: a table of each stream, by name; any may be empty.
    on : str, list, dict, Band or Where
        Key columns as in :func:`shedjoin.multijoin`, predicates, or a list of both.
    within
        As in :func:`shedjoin.multijoin`.
    time : dict
        Event-time column of each stream.
    lateness : duration, or dict
        How far each stream's watermark stays behind its greatest event time.
    shards, cells, restart_every, blobs, shuffle_seed, bucket_seed
        As in :func:`shedjoin.local.join`.
    budget, keep, seed, control
        As in :func:`shedjoin.multijoin`. Of a CPU budget, a message such as
        ``{"throttle": {"share": 0.3}}`` says how much work is done.
    collect : bool, default True
        As in :func:`shedjoin.local.join`.

    Returns
    -------
    Run
        Results and reports of every micro-batch.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from shedjoin import Band, local
    >>> def table(*prices):
    ...     times = pa.array([1_000_000] * len(prices), pa.timestamp("us"))
    ...     return pa.table({"at": times, "price": prices})
    >>> run = local.multijoin(
    ...     [{"a": table(1.0, 5.0), "b": table(1.4), "c": table(1.1, 1.6)}],
    ...     on=Band("price", 0.5),
    ...     within="1 minute",
    ...     time={"a": "at", "b": "at", "c": "at"},
    ... )
    >>> run.results.select(["price_a", "price_b", "price_c"]).to_pylist()
    [{'price_a': 1.0, 'price_b': 1.4, 'price_c': 1.1}]
    """
    check_shards(shards)
    conditions = split_on(on)
    shedding = shedding_of(
        budget, keep, seed=seed, by_predicates=bool(conditions.predicates)
    )
    runner: Runner | None = None
    for number, tables in enumerate(batches):
        if runner is None:
            names = check_streams(tables)
            schemas = [table.schema for table in tables.values()]
            spec = spec_of(
                names,
                schemas,
                conditions.stream_keys(names),
                by_name("time", time, names),
                stream_keeps_us(within, names),
                shards,
                [f"_{name}" for name in names],
            )
            terms = Streams(names, schemas).terms(conditions.predicates)
            spec = spec.with_terms(terms, cells).with_shedding(shedding)
            each = lateness
            if not isinstance(each, Mapping):
                each = dict.fromkeys(names, each)
            delays = map(parse_duration, by_name("lateness", each, names))
            worth = [None] * len(names)
            if values_of(keep) is not None:
                columns = {name: each.schema.names for name, each in tables.items()}
                worth = by_stream(values_of(keep), columns)
            delivery = Delivery(blobs, shuffle_seed, worth, bool(control))
            runner = Runner(
                *(spec, schemas, list(delays), delivery, restart_every, bucket_seed),
                collect=collect,
            )
        messages = (control or {}).get(number, ())
        runner.run(by_name("tables", tables, names), messages)
    return runner.done if runner else Run([], [])
