"""Public calls for relations that change; an engine is imported when it is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from shedjoin.api import _spark_for
from shedjoin.spec.window import Duration
from shedjoin.versions.folder import Begin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def polled_relation(  # noqa: PLR0913  (one function; all else by keyword)
    read: Callable[[], DataFrame],
    *,
    log: str | Path,
    every: Duration = "5 seconds",
    stale_after: Duration | None = None,
    timeout: Duration = "10 minutes",
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
    change, at : str, default "change" and "at"
        Names of the columns that are added.
    begin : {"always", "observed"}
        Whether ``at`` of the rows that the first reading finds is null, as they may
        have been there for long, or the time of that reading.

    Returns
    -------
    DataFrame
        A stream of the columns of the table, ``change`` (``"insert"`` or
        ``"delete"``), and ``at``, the time of the reading that found it, by the clock
        of the driver. It grows from version to version. A row that was updated is
        deleted and inserted at the same time.
    """
    with _spark_for("polled_relation"):
        from shedjoin.spark.polled import polled_relation as spark_polled_relation
    return spark_polled_relation(
        read,
        log=log,
        every=every,
        stale_after=stale_after,
        timeout=timeout,
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
    with _spark_for("stop_polling"):
        from shedjoin.spark.poller import stop_polling as spark_stop_polling
    return spark_stop_polling(Path(log).absolute())
