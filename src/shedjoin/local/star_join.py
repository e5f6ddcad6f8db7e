"""The join of two streams of tables through a relation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from shedjoin.columns.hot import fits_64_bits
from shedjoin.errors import ColumnTypeError
from shedjoin.local.changes import with_relation_rows
from shedjoin.local.delivery import Delivery
from shedjoin.local.run import Run
from shedjoin.local.runner import Runner, check_shards
from shedjoin.local.tables import spec_of
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal, shedding_of, values_of
from shedjoin.spec.budget import Budget
from shedjoin.spec.importance import by_side
from shedjoin.spec.keys import SIDES, check_pair, resolve_columns
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.spec.relation import (
    RelationSpec,
    Through,
    check_relation,
    parse_delay,
    relation_keys,
)
from shedjoin.spec.shedding import Discipline
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.window import Duration, Within, check_window, parse_duration


def star_join(  # noqa: PLR0913  (mirrors shedjoin.star_join)
    batches: Iterable[Sequence[pa.Table]],
    relation: pa.Table,
    *,
    on: Through,
    within: Within,
    time: tuple[str, str],
    valid: tuple[str, str] | None = None,
    change: tuple[str, str] | None = None,
    delay: Duration = "0 seconds",
    lateness: Duration | tuple[Duration, Duration] = "0 seconds",
    shards: int = 1,
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
    collect: bool = True,
) -> Run:
    """Join two streams given as micro-batches of tables through a relation.

    Parameters
    ----------
    batches : iterable of (left, right) or (left, right, changes) tables
        The micro-batches, in order; any table may be empty. Changes have the columns of
        the relation. Without any the relation is fixed.
    relation : pyarrow.Table
        The relation at the start; it may be empty.
    on, within, valid, change, delay, suffixes, budget, keep
        As in :func:`shedjoin.star_join`.
    discipline, recompute, seed
        As in :func:`shedjoin.join`.
    time : (str, str)
        Event-time columns of the left and the right table.
    lateness, shards, restart_every, blobs, shuffle_seed, bucket_seed
        As in :func:`shedjoin.local.join`.
    collect : bool, default True
        As in :func:`shedjoin.local.join`.

    Returns
    -------
    Run
        Results and reports of every micro-batch.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from shedjoin import Within, local
    >>> def table(key, *values):
    ...     times = pa.array([1_000_000] * len(values), pa.timestamp("us"))
    ...     return pa.table({"at": times, key: values})
    >>> run = local.star_join(
    ...     [(table("ad", 1, 2), table("machine", 7, 8))],
    ...     pa.table({"ad": [1, 2], "machine": [7, 9]}),
    ...     on=(("ad", "ad"), ("machine", "machine")),
    ...     within=Within(after="1 minute"),
    ...     time=("at", "at"),
    ... )
    >>> run.results.select(["ad", "machine"]).to_pylist()
    [{'ad': 1, 'machine': 7}]
    """
    check_shards(shards)
    check_window(within)
    shedding = shedding_of(
        budget, keep, discipline=discipline, recompute=recompute, seed=seed
    )
    each = lateness if isinstance(lateness, tuple) else (lateness, lateness)
    runner: Runner | None = None
    for tables, changing in with_relation_rows(batches, relation, SIDES):
        if runner is None:
            schemas = [tables[0].schema, tables[1].schema]
            spec = spec_of(
                *(SIDES, schemas, ((), ()), check_pair("time", time)),
                *((within.after_us, within.before_us), shards),
                check_pair("suffixes", suffixes),
            )
            active = check_relation(relation.schema.names, valid, change)
            active = replace(active, delay_us=parse_delay(delay), fixed=not changing)
            spec = _through(spec, schemas, relation.schema, on, active)
            spec = spec.with_shedding(shedding)
            delays = [parse_duration(delay) for delay in each]
            worth = (None, None)
            if values_of(keep) is not None:
                worth = by_side(values_of(keep), (schemas[0].names, schemas[1].names))
            delivery = Delivery(blobs, shuffle_seed, worth)
            runner = Runner(
                *(spec, schemas, delays, delivery, restart_every, bucket_seed),
                collect=collect,
            )
        runner.run(tables)
    return runner.done if runner else Run([], [])


def _through(
    spec: JoinSpec,
    schemas: Sequence[pa.Schema],
    relation: pa.Schema,
    on: Through,
    active: RelationSpec,
) -> JoinSpec:
    """Say through which columns of a relation two streams are joined."""
    own, keys = relation_keys(on)
    direct = True
    for column in (active.begin, active.end):
        kind = None if column is None else relation.field(column).type
        if kind is not None and not pa.types.is_timestamp(kind):
            raise ColumnTypeError(
                f"{column!r} of the relation is of type {kind}.",
                fix="cast it to a timestamp, e.g. pa.timestamp('us', 'UTC').",
            )
        for stream, schema in zip(spec.streams, schemas, strict=True):
            time = schema.field(stream.time).type
            if kind is not None and (kind.tz is None) != (time.tz is None):
                raise ColumnTypeError(
                    f"{column!r} of the relation is of type {kind}, the time "
                    f"{stream.time!r} of the {stream.name} stream of type {time}.",
                    fix="give both a time zone, or none.",
                )
    for side, schema, names, others in zip(SIDES, schemas, own, keys, strict=True):
        resolve_columns(side, names, schema.names)
        resolve_columns("relation's", others, relation.names)
        direct &= len(names) == 1
        for name, other in zip(names, others, strict=True):
            kind, same = schema.field(name).type, relation.field(other).type
            direct &= fits_64_bits(kind)
            if kind != same:
                raise ColumnTypeError(
                    f"column {name!r} of the {side} stream is of type {kind}, column "
                    f"{other!r} of the relation of type {same}.",
                    fix=f"cast one of them, e.g. to {same}.",
                )
    active = replace(active, keys=keys)
    used = active.used_columns
    columns = tuple((name, str(relation.field(name).type)) for name in used)
    return spec.through(replace(active, columns=columns), own, direct=direct)
