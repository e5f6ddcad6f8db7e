"""Lookups in a relation, and relations in tables that are read again and again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from shedjoin.api import spark_for
from shedjoin.request.options import DEFAULTS, Options
from shedjoin.request.relations import Relation
from shedjoin.spec.multijoin import OnEach
from shedjoin.spec.window import Duration
from shedjoin.versions.folder import Begin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def lookup_join(
    stream: DataFrame,
    relation: Relation,
    *,
    on: OnEach,
    time: str | None = None,
    name: str = "shedjoin",
    options: Options = DEFAULTS,
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
    relation : Relation
        With a table as its rows, Spark's own join does it, without any state, and reads
        the table anew in every micro-batch. With a stream of changes, the relation is
        the state. A row that is equal to an earlier one in all columns but its end
        changes its end; a deletion ends rows that are equal in all other columns and
        began before.
    on : str, list or dict
        Key columns: ``"ad"``, ``["site", "unit"]``, or those of the stream and those of
        the relation, ``{"stream": "ad", "relation": "ad_id"}``.
    time : str, optional
        Time of the rows; by default that of the watermark.
    name, options
        As in :func:`shedjoin.join`. Of the options only ``shards`` concerns this join,
        and only if the relation is a stream.

    Returns
    -------
    DataFrame
        Columns of the stream, then those of the relation but for keys, and for those
        that ``valid`` and ``change`` name. A time with a watermark keeps it.
    """
    with spark_for("lookup_join"):
        from shedjoin.spark.lookup import lookup_join as spark_lookup_join
    return spark_lookup_join(
        stream, relation, on=on, time=time, name=name, options=options
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
