"""The join of several streams of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from shedjoin.local.run import Run
from shedjoin.local.runner import Runner
from shedjoin.local.starting import Settings, check_control, started
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal
from shedjoin.request.options import DEFAULTS, Options
from shedjoin.request.spec import Asked
from shedjoin.spec.budget import Budget
from shedjoin.spec.conditions import OnStreams
from shedjoin.spec.multijoin import by_name, check_streams
from shedjoin.spec.window import Duration, WithinEach


def multijoin(  # noqa: PLR0913  (mirrors shedjoin.multijoin)
    batches: Iterable[Mapping[str, pa.Table]],
    *,
    on: OnStreams,
    within: WithinEach,
    time: str | Mapping[str, str],
    lateness: Duration | Mapping[str, Duration] = "0 seconds",
    restart_every: int = 0,
    blobs: int = 1,
    shuffle_seed: int = 0,
    bucket_seed: int = 0,
    budget: Budget | None = None,
    keep: Goal | Policy | None = None,
    options: Options = DEFAULTS,
    control: Mapping[int, Sequence[Mapping[str, Any]]] | None = None,
    collect: bool = True,
) -> Run:
    """Join two to five streams given as micro-batches of tables.

    Parameters
    ----------
    batches : iterable of dict
        The micro-batches, in order: dicts with a table of each stream. Any table may be
        empty.
    on : str, list, dict, Band or Where
        Key columns as in :func:`shedjoin.multijoin`, predicates, or a list of both.
    within
        As in :func:`shedjoin.multijoin`.
    time : str or dict
        Event-time column of each stream.
    lateness : duration, or dict
        How far each stream's watermark stays behind its greatest event time.
    restart_every, blobs, shuffle_seed, bucket_seed
        As in :func:`shedjoin.local.join`.
    budget, keep, options, control
        As in :func:`shedjoin.multijoin`. With a CPU budget, a message such as
        ``{"throttle": {"share": 0.3}}`` sets the share of the work that is done.
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
    asked = Asked(
        on=on,
        within=within,
        budget=budget,
        keep=keep,
        time=time,
        options=options,
    )
    check_control(control)
    settings = Settings(
        lateness=lateness,
        restart_every=restart_every,
        blobs=blobs,
        shuffle_seed=shuffle_seed,
        bucket_seed=bucket_seed,
        collect=collect,
        steered=bool(control),
    )
    runner: Runner | None = None
    for number, tables in enumerate(batches):
        if runner is None:
            names = check_streams(tables)
            runner = started(tables, asked, settings)
        messages = (control or {}).get(number, ())
        runner.run(by_name("tables", tables, names), messages)
    return runner.done if runner else Run([], [])
