"""The join of a stream of tables with a relation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from shedjoin.local.changes import with_relation_rows
from shedjoin.local.delivery import Delivery
from shedjoin.local.run import Run
from shedjoin.local.runner import Runner
from shedjoin.local.starting import lateness_us
from shedjoin.local.tables import stream_of
from shedjoin.request.lookup import STREAM, lookup_of, lookup_shards, lookup_spec
from shedjoin.request.options import DEFAULTS, Options
from shedjoin.request.relations import Relation
from shedjoin.spec.multijoin import OnEach
from shedjoin.spec.window import Duration


def lookup_join(  # noqa: PLR0913  (mirrors shedjoin.lookup_join)
    batches: Iterable[Sequence[pa.Table]],
    relation: Relation,
    *,
    on: OnEach,
    time: str,
    lateness: Duration = "0 seconds",
    restart_every: int = 0,
    blobs: int = 1,
    shuffle_seed: int = 0,
    bucket_seed: int = 0,
    collect: bool = True,
    options: Options = DEFAULTS,
) -> Run:
    """Join a stream given as micro-batches of tables with a relation.

    Parameters
    ----------
    batches : iterable of (rows,) or (rows, changes) tables
        The micro-batches, in order. Any table may be empty. Changes have the columns of
        the relation. Without changes the relation is fixed, and no row is late.
    relation : Relation
        The relation at the start, which may be empty.
    on
        As in :func:`shedjoin.lookup_join`.
    time : str
        Event-time column of the rows.
    lateness, restart_every, blobs, shuffle_seed, bucket_seed
        As in :func:`shedjoin.local.join`.
    collect : bool, default True
        As in :func:`shedjoin.local.join`.
    options : Options, optional
        This join uses ``shards`` alone.

    Returns
    -------
    Run
        Results and reports of every micro-batch.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from shedjoin import Relation, local
    >>> def times(*seconds):
    ...     return pa.array([1_000_000 * s for s in seconds], pa.timestamp("us"))
    >>> bids = pa.table(
    ...     {"ad": [1, 2], "bid": [5, 7], "from": times(0, 0), "to": times(5, 9)}
    ... )
    >>> run = local.lookup_join(
    ...     [(pa.table({"at": times(1, 5, 9), "ad": [1, 1, 2]}),)],
    ...     Relation(bids, valid=("from", "to")),
    ...     on="ad",
    ...     time="at",
    ... )
    >>> run.results.select(["ad", "bid"]).to_pylist()
    [{'ad': 1, 'bid': 5}]
    """
    shards = lookup_shards(relation, options) or 1
    runner: Runner | None = None
    for tables, changing in with_relation_rows(batches, relation.rows, ("rows",)):
        if runner is None:
            rows, related = tables[0].schema, relation.rows.schema
            own = stream_of(rows, STREAM)
            columns = stream_of(related, "relation", is_running=changing)
            lookup = lookup_of(own, columns, relation, on, time)
            spec = lookup_spec(own, columns, lookup, shards)
            delivery = Delivery(blobs, shuffle_seed)
            runner = Runner(
                *(spec, [rows, related], [lateness_us(lateness)]),
                *(delivery, restart_every, bucket_seed),
                collect=collect,
            )
        runner.run(tables)
    return runner.done if runner else Run([], [])
