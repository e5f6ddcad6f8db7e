"""Public calls for joins with a relation; an engine is imported when it is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from shedjoin.api import spark_for
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal, shedding_of, values_of
from shedjoin.spec.budget import Budget
from shedjoin.spec.keys import On
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.spec.relation import Through
from shedjoin.spec.shedding import Discipline
from shedjoin.spec.window import Duration, Within
from shedjoin.versions.folder import Begin

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
    budget: Budget | None = None,
    keep: Goal | Policy | None = None,
    discipline: Discipline = "probe_then_insert",
    recompute: Recompute = DEFAULT,
    seed: int = 0,
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
    budget : Budget, optional
        Rows or bytes of both streams that all shards together may hold; the relation
        is not counted. None is no limit. A checkpoint with a budget may go on with
        another one, or without, and the other way round.
    keep : goal or policy, optional
        As in :func:`join`; what a row is worth follows from the keys that go with its
        own. Samples, and policies that save work, are not for such joins.
    discipline, recompute, seed, time, shards, suffixes, name, event_time
        As in :func:`join`.

    Returns
    -------
    DataFrame
        Columns of the left stream, then of the right one. ``explain`` says how rows
        find their shards: by component of the relation, by its rows, or copied.
    """
    with spark_for("star_join"):
        from shedjoin.spark.star_join import star_join as spark_star_join
    shedding = shedding_of(
        budget, keep, discipline=discipline, recompute=recompute, seed=seed
    )
    return spark_star_join(
        *(left, right, relation),
        on=on,
        within=within,
        valid=valid,
        change=change,
        delay=delay,
        shedding=shedding,
        importance=values_of(keep),
        time=time,
        shards=shards,
        suffixes=suffixes,
        name=name,
        event_time=event_time,
    )


def relation_join(  # noqa: PLR0913  (a stream and a relation; all else by keyword)
    stream: DataFrame,
    relation: DataFrame,
    *,
    on: On,
    valid: tuple[str, str] | None = None,
    change: tuple[str, str] | None = None,
    time: str | None = None,
    shards: int | None = None,
    name: str = "shedjoin",
) -> DataFrame:
    """Join one stream with a relation: rows with the relation rows of their key.

    A row of the stream is a result with each relation row that has its key and is
    active at its time. No row of the stream is kept: it is joined with the relation as
    it is known when the row comes. So a change acts on rows that come with it or after
    it, whatever its time; one that may have come too late for some is counted.

    Parameters
    ----------
    stream : DataFrame
        The stream. With a relation that changes it needs ``withWatermark`` on its event
        time, and rows later than that are dropped and counted.
    relation : DataFrame
        A table: Spark's own join does it, without any state, and reads the table anew
        in every micro-batch. Or a stream of its changes, without a watermark: the
        relation is the state.
    on : str, list or dict
        Key columns: ``"ad"``, ``["site", "unit"]``, or those of the stream with those
        of the relation, ``{"ad": "ad_id"}``.
    valid : (str, str), optional
        Columns of the relation: the time from which on a row is active, and the one
        before which it is. A null is no limit. In a stream, a row that tells the same
        from the same begin on as one before changes its end.
    change : (str, str), optional
        Columns of a stream of changes: what happens, ``"insert"`` or ``"delete"``, and
        when. A deletion ends rows that are equal in all other columns and began before.
    time : str, optional
        Time of the rows; by default that of the watermark.
    shards, name
        As in :func:`join`; of no use with a table.

    Returns
    -------
    DataFrame
        Columns of the stream, then those of the relation but for keys, and for those
        that ``valid`` and ``change`` name. A time with a watermark keeps it.
    """
    with spark_for("relation_join"):
        from shedjoin.spark.relation_join import relation_join as spark_relation_join
    return spark_relation_join(
        *(stream, relation),
        on=on,
        valid=valid,
        change=change,
        time=time,
        shards=shards,
        name=name,
    )


def polled_relation(  # noqa: PLR0913  (one function; all else by keyword)
    read: Callable[[], DataFrame],
    *,
    log: str | Path,
    every: Duration = "5 seconds",
    stale_after: Duration | None = None,
    timeout: Duration = "10 minutes",
    lead: Duration = "1 second",
    change: str = "change",
    at: str = "at",
    begin: Begin = "always",
) -> DataFrame:
    """The changes of a table that is read again and again, as a stream.

    A thread of the driver reads the table from now on, compares it with what it has
    read before, and writes what came and went to a folder, as numbered versions. The
    stream reads these, and Spark logs in the checkpoint how far: a restart reads the
    same changes again, and goes on where the table has changed meanwhile.

    Parameters
    ----------
    read : callable
        Gives the table as a batch DataFrame, for example
        ``lambda: spark.read.jdbc(url, "ads", properties=properties)``. Equal rows count
        once. Columns of nested types are refused.
    log : str or Path
        The folder of versions, one for each table, which the driver and all executors
        can read. It belongs to the checkpoint: keep both, or start anew with neither.
    every : str or timedelta, default "5 seconds"
        From one reading to the next.
    stale_after : str or timedelta, optional
        How old the last reading may be for a micro-batch to begin. After that the
        query waits. Three times ``every`` by default.
    timeout : str or timedelta, default "10 minutes"
        How long a query waits before it fails. It can be started again later.
    lead : str or timedelta, default "1 second"
        How much later than the reading that finds it a change acts: by then the query
        knows of it, and no rows were joined that it concerns. Rows whose times lie
        ahead of the clock of the driver by more are joined too early.
    change, at : str, default "change" and "at"
        Names of the columns that are added.
    begin : {"always", "observed"}
        Whether ``at`` of the rows that the first reading finds is null, as they may
        have been there for long, or the time of that reading.

    Returns
    -------
    DataFrame
        A stream of the columns of the table, ``change`` (``"insert"`` or
        ``"delete"``), and ``at``, the time at which a reading found it, by the clock
        of the driver, and the ``lead``. It grows from version to version. A row that
        was updated is deleted and inserted at the same time.
    """
    with spark_for("polled_relation"):
        from shedjoin.spark.polled import polled_relation as spark_polled_relation
    return spark_polled_relation(
        read,
        log=log,
        every=every,
        stale_after=stale_after,
        timeout=timeout,
        lead=lead,
        change=change,
        at=at,
        begin=begin,
    )


def stop_polling(log: str | Path) -> bool:
    """Stop to read a table; queries over it wait from then on, and fail in the end.

    Parameters
    ----------
    log : str or Path
        The folder of versions, as in :func:`polled_relation`.

    Returns
    -------
    bool
        Whether this process was reading it.
    """
    with spark_for("stop_polling"):
        from shedjoin.spark.poller import stop_polling as spark_stop_polling
    return spark_stop_polling(Path(log).absolute())
