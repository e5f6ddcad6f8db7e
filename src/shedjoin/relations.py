"""The public calls for lookups in a relation, and for tables that are polled."""

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
    """Join each row of one stream with the relation rows of its key.

    A row of the stream forms a result with each relation row that has its key and is
    active at its time. Rows of the stream are not held: each is joined with the
    relation as it is known when the row arrives. A change therefore acts on rows that
    arrive with it or after it, whatever its time. A change that may have come too late
    for some rows is counted.

    Parameters
    ----------
    stream : DataFrame
        The stream. With a relation that changes, it needs ``withWatermark`` on its
        event time. Rows behind the watermark are dropped and counted.
    relation : Relation
        If its rows are a table, Spark's own join is used. That join has no state, and
        reads the table again in every micro-batch. If its rows are a stream of changes,
        the join holds the relation in its state. A row changes the end of an earlier
        row if both are equal in all columns but the end. A deletion ends the rows that
        began before it and are equal to it in all columns but those of ``change``.
    on : str, list or dict
        Key columns: ``"ad"``, ``["site", "unit"]``, or different names in the stream
        and in the relation, ``{"stream": "ad", "relation": "ad_id"}``.
    time : str, optional
        Column with the time of the rows. By default the column with the watermark.
    name, options
        As in :func:`shedjoin.join`. The only option that this join uses is ``shards``,
        if the relation is a stream.

    Returns
    -------
    DataFrame
        Columns of the stream, then columns of the relation, except its keys and the
        columns that ``valid`` and ``change`` name. A time column with a watermark keeps
        the watermark.
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
    """Poll a table, and give its changes as a stream.

    A thread of the driver reads the table at intervals, and compares each reading with
    the one before. It writes the rows that were inserted and deleted to a folder, as
    numbered versions. The stream reads these versions. Spark logs in the checkpoint
    which versions it has read. After a restart, the micro-batch that was not finished
    reads the same changes again. Later micro-batches read later changes.

    Parameters
    ----------
    read : callable
        Returns the table as a batch DataFrame, for example
        ``lambda: spark.read.jdbc(url, "ads", properties=properties)``. Equal rows count
        once. Columns of nested types are refused.
    log : str or Path
        The folder of versions, one for each table. The driver and all executors must be
        able to read it. It belongs to the checkpoint of the query: keep both, or delete
        both.
    every : str or timedelta, default "5 seconds"
        Time from one reading to the next.
    stale_after : str or timedelta, optional
        How old the last reading may be when a micro-batch begins. While it is older,
        the query waits. By default three times ``every``.
    timeout : str or timedelta, default "10 minutes"
        How long a query waits before it fails. It can be started again afterwards.
    lead : str or timedelta, default "1 second"
        Delay between detecting a change and applying it. During this delay, the query
        reads the change, so that it is known before rows to which it applies are
        joined. Rows whose times are further ahead of the driver's clock than this delay
        may be joined before the change is known.
    change, at : str, default "change" and "at"
        Names of the two columns that are added.
    begin : {"always", "observed"}
        Value of ``at`` for rows of the first reading. With ``"always"``, it is null,
        since these rows may have existed for long. With ``"observed"``, it is the time
        of that reading, plus ``lead``.

    Returns
    -------
    DataFrame
        A stream of the columns of the table, ``change`` (``"insert"`` or ``"delete"``),
        and ``at``: the time at which a reading found the change, by the clock of the
        driver, plus ``lead``. It increases from version to version. A row that was
        updated is deleted and inserted at the same time.
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
    """Stop polling a table. Queries over it then wait, and fail after their timeout.

    Parameters
    ----------
    log : str or Path
        The folder of versions, as in :func:`polled_relation`.

    Returns
    -------
    bool
        Whether this process was polling the table.
    """
    with spark_for("stop_polling"):
        from shedjoin.spark.poller import stop_polling as spark_stop_polling
    return spark_stop_polling(Path(log).absolute())
