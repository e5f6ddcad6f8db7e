"""The join of two streams of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from shedjoin.local.delivery import Delivery
from shedjoin.local.run import Run
from shedjoin.local.runner import Runner, check_shards
from shedjoin.local.tables import check_tables, make_spec
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal, shedding_of, values_of
from shedjoin.spec.budget import Budget
from shedjoin.spec.capabilities.table import check_combination
from shedjoin.spec.cells import Cells
from shedjoin.spec.conditions import OnPair, split_on
from shedjoin.spec.how import asked_how
from shedjoin.spec.importance import by_side
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.spec.shedding import Discipline
from shedjoin.spec.window import Duration, Within, check_window, parse_duration


def join(  # noqa: PLR0913  (mirrors shedjoin.join; all but the first are keywords)
    batches: Iterable[tuple[pa.Table, pa.Table]],
    *,
    on: OnPair,
    within: Within,
    time: tuple[str, str],
    lateness: Duration | tuple[Duration, Duration] = "0 seconds",
    shards: int = 1,
    cells: Cells | None = None,
    how: str = "inner",
    suffixes: tuple[str, str] = ("_left", "_right"),
    restart_every: int = 0,
    blobs: int = 1,
    shuffle_seed: int = 0,
    budget: Budget | None = None,
    keep: Goal | Policy | None = None,
    discipline: Discipline = "probe_then_insert",
    recompute: Recompute = DEFAULT,
    seed: int = 0,
    bucket_seed: int = 0,
    control: Mapping[int, Sequence[Mapping[str, Any]]] | None = None,
    collect: bool = True,
) -> Run:
    """Join two streams given as micro-batches of tables.

    Parameters
    ----------
    batches : iterable of (left, right) tables
        The micro-batches, in order; either table may be empty.
    on : str, list, dict, Band or Where
        Key columns as in :func:`shedjoin.join`, predicates, or a list of both. In
        predicates the streams are called ``left`` and ``right``.
    within, cells, how, suffixes
        As in :func:`shedjoin.join`.
    time : (str, str)
        Event-time columns of the left and the right table.
    lateness : duration, or (duration, duration)
        How far each stream's watermark stays behind its greatest event time.
    shards : int, default 1
        Number of shards. They run one after another, so that many take longer.
    restart_every : int, default 0
        Start again from the stored bytes after so many micro-batches; 0 is never.
    blobs, shuffle_seed : int
        Cut each side into so many blobs and deliver them in a shuffled order.
    budget, keep, discipline, recompute, seed
        As in :func:`shedjoin.join`.
    bucket_seed : int, default 0
        Seed of the hash index; no result depends on it. On Spark it is a secret of the
        query, so that nobody can choose keys for one bucket.
    control : dict, optional
        Messages by the number of the micro-batch, from 0, from which on they hold: each
        is what :meth:`shedjoin.Control.send` is given, such as
        ``{3: [{"budget": {"rows": 1000}}]}``.
    collect : bool, default True
        Keep the joined rows; without it they are counted and dropped, so that a run
        with many results needs little memory.

    Returns
    -------
    Run
        Results and reports of every micro-batch.
    """
    check_shards(shards)
    check_window(within)
    shedding = shedding_of(
        budget,
        keep,
        discipline=discipline,
        recompute=recompute,
        seed=seed,
        by_predicates=bool(split_on(on).predicates),
    )
    each = lateness if isinstance(lateness, tuple) else (lateness, lateness)
    delays = [parse_duration(delay) for delay in each]
    runner: Runner | None = None
    for number, tables in enumerate(batches):
        if runner is None:
            check_tables(tables)
            schemas = (tables[0].schema, tables[1].schema)
            spec = make_spec(schemas, on, within, time, shards, suffixes, cells)
            check_combination(spec.join_kind, asked_how(how))
            worth = (None, None)
            if values_of(keep) is not None:
                worth = by_side(values_of(keep), (schemas[0].names, schemas[1].names))
            runner = Runner(
                spec.with_shedding(shedding),
                schemas,
                delays,
                Delivery(blobs, shuffle_seed, worth, bool(control)),
                restart_every,
                bucket_seed,
                collect=collect,
            )
        runner.run(tables, (control or {}).get(number, ()))
    return runner.done if runner else Run([], [])
