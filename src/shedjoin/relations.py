"""Public calls for joins through a relation; an engine is imported when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shedjoin.api import spark_for
from shedjoin.spec.relation import Through
from shedjoin.spec.window import Duration, Within

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def star_join(  # noqa: PLR0913  (two streams and a relation; all else by keyword)
    left: DataFrame,
    right: DataFrame,
    relation: DataFrame,
    *,
    on: Through,
    within: Within,
    valid: tuple[str, str] | None = None,
    change: tuple[str, str] | None = None,
    delay: Duration = "0 seconds",
    time: tuple[str, str] | None = None,
    shards: int | None = None,
    suffixes: tuple[str, str] = ("_left", "_right"),
    name: str = "shedjoin",
    event_time: str | None = None,
) -> DataFrame:
    """Join two streams through a relation that says which of their keys go together.

    A left and a right row are a result if a row of the relation has both their keys and
    is active at both their times, which lie within the window; as in SQL, once for each
    such relation row. A stream row is stored once, however many relation rows it has.

    Parameters
    ----------
    left, right : DataFrame
        The streams, each with ``withWatermark`` on its event time.
    relation : DataFrame
        A table, read when the query starts, which must be the same at a restart. Or a
        stream of its changes, without a watermark.
    on : ((str, str), (str, str))
        The column of the left stream and that of the relation which equals it, then
        those of the right stream. Several columns are given as lists.
    within : Within
        How far apart the times may lie, as in :func:`join`.
    valid : (str, str), optional
        Columns of the relation: the time from which on a row is active, and the one
        before which it is. A null is no limit. In a stream, a row with the same keys
        and begin as one before changes its end.
    change : (str, str), optional
        Columns of a stream of changes: what happens, ``"insert"`` or ``"delete"``, and
        when. A deletion ends rows of its keys that began before.
    delay : duration, default "0 seconds"
        How much later than the watermark changes may come: a row waits so long for a
        relation row. A later change is counted; an insertion then acts on rows that are
        still there, and a deletion takes back no result.
    time, shards, suffixes, name, event_time
        As in :func:`join`.

    Returns
    -------
    DataFrame
        Columns of the left stream, then of the right one. ``explain`` says how rows
        find their shards: by component of the relation, by its rows, or copied.
    """
    with spark_for("star_join"):
        from shedjoin.spark.star_join import star_join as spark_star_join
    return spark_star_join(
        *(left, right, relation),
        on=on,
        within=within,
        valid=valid,
        change=change,
        delay=delay,
        time=time,
        shards=shards,
        suffixes=suffixes,
        name=name,
        event_time=event_time,
    )
