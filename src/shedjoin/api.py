"""The public calls; an engine is imported when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shedjoin.core.keys import On
from shedjoin.core.window import Within
from shedjoin.errors import MissingExtraError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def join(  # noqa: PLR0913  (two streams; all else by keyword)
    left: DataFrame,
    right: DataFrame,
    *,
    on: On,
    within: Within,
    time: tuple[str, str] | None = None,
    shards: int | None = None,
    suffixes: tuple[str, str] = ("_left", "_right"),
    name: str = "shedjoin",
) -> DataFrame:
    """Join two streams by key within a window of event time.

    The result is an ordinary streaming DataFrame, equal row for row to Spark's own
    inner join with the same keys and time condition, late rows included. Both streams
    need a watermark; rows later than it are dropped and counted. Given two batch
    DataFrames, the same operator joins archived streams.

    Parameters
    ----------
    left, right : DataFrame
        The streams, each with ``withWatermark`` on its event time.
    on : str, list of str, or dict
        Key columns: ``"id"``, ``["a", "b"]``, or ``{"left_id": "right_id"}``.
    within : Within
        The window: ``left.t - before <= right.t <= left.t + after``.
    time : (str, str), optional
        Event-time columns. Taken from the watermarks of streams; batch DataFrames
        have none and must name them.
    shards : int, optional
        Number of shards, the units of state and parallelism. The shuffle partition
        count by default. Fixed for the life of a checkpoint.
    suffixes : (str, str), default ("_left", "_right")
        Added to columns other than keys that stand on both sides.
    name : str, default "shedjoin"
        Name of the counts in ``query.lastProgress["observedMetrics"]``. Two joins in
        one query need two names.

    Returns
    -------
    DataFrame
        Keys of the same name once, then the other columns of left and of right.
    """
    try:
        from shedjoin.spark.join import join as spark_join
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"shedjoin.join needs {error.name!r}, which is not installed.",
            fix='run pip install "shedjoin[spark]".',
        ) from error
    return spark_join(
        left,
        right,
        on=on,
        within=within,
        time=time,
        shards=shards,
        suffixes=suffixes,
        name=name,
    )
