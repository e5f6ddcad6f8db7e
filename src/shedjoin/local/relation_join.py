"""The join of a stream of tables with a relation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from shedjoin.columns.hashing import is_hashed
from shedjoin.errors import ColumnTypeError
from shedjoin.local.changes import with_relation_rows
from shedjoin.local.delivery import Delivery
from shedjoin.local.run import Run
from shedjoin.local.runner import Runner, check_shards
from shedjoin.local.tables import spec_of
from shedjoin.spec.alone import STREAM, told_columns, with_relation
from shedjoin.spec.keys import On, key_pairs, resolve_columns
from shedjoin.spec.relation import RelationSpec, check_relation
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.window import Duration, parse_duration


def relation_join(  # noqa: PLR0913  (mirrors shedjoin.relation_join)
    batches: Iterable[Sequence[pa.Table]],
    relation: pa.Table,
    *,
    on: On,
    time: str,
    valid: tuple[str, str] | None = None,
    change: tuple[str, str] | None = None,
    lateness: Duration = "0 seconds",
    shards: int = 1,
    restart_every: int = 0,
    blobs: int = 1,
    shuffle_seed: int = 0,
    bucket_seed: int = 0,
    collect: bool = True,
) -> Run:
    """Join a stream given as micro-batches of tables with a relation.

    Parameters
    ----------
    batches : iterable of (rows,) or (rows, changes) tables
        The micro-batches, in order; any table may be empty. Changes have the columns of
        the relation. Without any the relation is fixed, and no row is late.
    relation : pyarrow.Table
        The relation at the start; it may be empty.
    on, valid, change
        As in :func:`shedjoin.relation_join`.
    time : str
        Event-time column of the rows.
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
    >>> from shedjoin import local
    >>> def times(*seconds):
    ...     return pa.array([1_000_000 * s for s in seconds], pa.timestamp("us"))
    >>> run = local.relation_join(
    ...     [(pa.table({"at": times(1, 5, 9), "ad": [1, 1, 2]}),)],
    ...     pa.table(
    ...         {"ad": [1, 2], "bid": [5, 7], "from": times(0, 0), "to": times(5, 9)}
    ...     ),
    ...     on="ad",
    ...     time="at",
    ...     valid=("from", "to"),
    ... )
    >>> run.results.select(["ad", "bid"]).to_pylist()
    [{'ad': 1, 'bid': 5}]
    """
    check_shards(shards)
    runner: Runner | None = None
    for tables, changing in with_relation_rows(batches, relation, ("rows",)):
        if runner is None:
            rows = tables[0].schema
            active = check_relation(relation.schema.names, valid, change)
            active = replace(active, fixed=not changing)
            spec = _spec(rows, relation.schema, on, time, shards, active)
            delivery = Delivery(blobs, shuffle_seed)
            runner = Runner(
                *(spec, [rows, relation.schema], [parse_duration(lateness)]),
                *(delivery, restart_every, bucket_seed),
                collect=collect,
            )
        runner.run(tables)
    return runner.done if runner else Run([], [])


def _spec(
    rows: pa.Schema,
    relation: pa.Schema,
    on: On,
    time: str,
    shards: int,
    active: RelationSpec,
) -> JoinSpec:
    """Check the arguments against the columns and put them into a spec."""
    spec = spec_of((STREAM,), [rows], ((),), (time,), (0,), shards, ("",))
    own, others = zip(*key_pairs(on), strict=True)
    keys = (
        resolve_columns("joined", own, rows.names),
        resolve_columns("relation's", others, relation.names),
    )
    columns = tuple((field.name, str(field.type)) for field in relation)
    for name in told_columns(active, relation.names):
        if not is_hashed(relation.field(name).type):
            raise ColumnTypeError(
                f"column {name!r} of the relation is of type "
                f"{relation.field(name).type}, by which rows cannot be told apart.",
                fix="leave it out, or cast it to text.",
            )
    pairs = [(name, rows.field(name).type) for name in keys[0]]
    pairs += [(time, rows.field(time).type)] * 2
    limits = [name for name in (active.begin, active.end) if name is not None]
    for (name, kind), other in zip(pairs, (*keys[1], *limits), strict=False):
        same = relation.field(other).type
        if kind != same:
            raise ColumnTypeError(
                f"column {name!r} of the stream is of type {kind}, column {other!r} of "
                f"the relation of type {same}.",
                fix=f"cast one of them, e.g. to {same}.",
            )
    return with_relation(spec, replace(active, columns=columns), keys)
