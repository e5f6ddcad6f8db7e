"""The join of two streams of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from shedjoin.local.changes import with_relation_rows
from shedjoin.local.run import Run
from shedjoin.local.runner import Runner
from shedjoin.local.starting import Settings, check_control, started
from shedjoin.local.tables import check_tables
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal
from shedjoin.request.options import DEFAULTS, Options
from shedjoin.request.relations import Relation
from shedjoin.request.spec import Asked
from shedjoin.spec.budget import Budget
from shedjoin.spec.conditions import OnStreams
from shedjoin.spec.keys import SIDES
from shedjoin.spec.window import Duration, WithinPair


def join(  # noqa: PLR0913  (mirrors shedjoin.join; all but the first are keywords)
    batches: Iterable[Sequence[pa.Table]],
    *,
    on: OnStreams | None = None,
    within: WithinPair,
    time: str | tuple[str, str] | Mapping[str, str],
    through: Relation | None = None,
    lateness: Duration | tuple[Duration, Duration] | Mapping[str, Duration] = (
        "0 seconds"
    ),
    how: str = "inner",
    suffixes: tuple[str, str] | None = None,
    restart_every: int = 0,
    blobs: int = 1,
    shuffle_seed: int = 0,
    budget: Budget | None = None,
    keep: Goal | Policy | None = None,
    options: Options = DEFAULTS,
    bucket_seed: int = 0,
    control: Mapping[int, Sequence[Mapping[str, Any]]] | None = None,
    collect: bool = True,
) -> Run:
    """Join two streams given as micro-batches of tables.

    Parameters
    ----------
    batches : iterable of (left, right) or (left, right, changes) tables
        The micro-batches, in order. Any table may be empty. The third table has the
        columns of the relation, and contains its changes. Without a third table, the
        relation is fixed.
    on : str, list, dict, Band or Where
        Key columns as in :func:`shedjoin.join`, predicates, or a list of both. In
        predicates the streams are called ``left`` and ``right``.
    within, through, how, suffixes
        As in :func:`shedjoin.join`.
    time : str, (str, str) or dict
        Event-time column of both tables, or the columns of the left and right table.
    lateness : duration, (duration, duration) or dict
        How far each stream's watermark stays behind its greatest event time.
    restart_every : int, default 0
        Number of micro-batches after which the run restarts from the stored bytes. 0
        means never.
    blobs, shuffle_seed : int
        Number of blobs that each stream is cut into, and seed of their random order.
    budget, keep, options
        As in :func:`shedjoin.join`. Shards run one after another.
    bucket_seed : int, default 0
        Seed of the hash index; no result depends on it. On Spark it is a secret of the
        query, so that clients cannot choose keys for one bucket.
    control : dict, optional
        Messages by the number of the micro-batch, from 0 on, with which they come into
        force. A message has the arguments of :meth:`shedjoin.Control.send`, such as
        ``{3: [{"budget": {"rows": 1000}}]}``.
    collect : bool, default True
        Keep the joined rows. Otherwise they are counted and dropped, so that a run with
        many results needs little memory.

    Returns
    -------
    Run
        Results and reports of every micro-batch.
    """
    asked = Asked(
        on=on,
        within=within,
        how=how,
        through=through,
        budget=budget,
        keep=keep,
        time=time,
        suffixes=suffixes,
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
    if through is not None:
        return _through(batches, asked, through, settings)
    runner: Runner | None = None
    for number, tables in enumerate(batches):
        if runner is None:
            check_tables(tables)
            runner = started(dict(zip(SIDES, tables, strict=True)), asked, settings)
        runner.run(tables, (control or {}).get(number, ()))
    return runner.done if runner else Run([], [])


def _through(
    batches: Iterable[Sequence[pa.Table]],
    asked: Asked,
    relation: Relation,
    settings: Settings,
) -> Run:
    """Join two streams through a relation, which comes with the first micro-batch."""
    runner: Runner | None = None
    for tables, changing in with_relation_rows(batches, relation.rows, SIDES):
        if runner is None:
            first = dict(zip(SIDES, tables, strict=False))
            runner = started(first, asked, settings, changing=changing)
        runner.run(tables)
    return runner.done if runner else Run([], [])
