"""The public calls; an engine is imported when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shedjoin.core.budget import Budget
from shedjoin.core.keys import On
from shedjoin.core.policy import Discipline, Policy
from shedjoin.core.recompute import DEFAULT, Recompute
from shedjoin.core.window import Within
from shedjoin.errors import MissingExtraError
from shedjoin.policies.goals import Goal, MostImportant, shedding_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def join(  # noqa: PLR0913  (two streams; all else by keyword)
    left: DataFrame,
    right: DataFrame,
    *,
    on: On,
    within: Within,
    budget: Budget | None = None,
    keep: Goal | Policy | None = None,
    time: tuple[str, str] | None = None,
    discipline: Discipline = "probe_then_insert",
    recompute: Recompute = DEFAULT,
    seed: int = 0,
    shards: int | None = None,
    suffixes: tuple[str, str] = ("_left", "_right"),
    name: str = "shedjoin",
) -> DataFrame:
    """Join two streams by key within a window of event time.

    The result is an ordinary streaming DataFrame, equal row for row to Spark's own
    inner join with the same keys and time condition, late rows included. Both streams
    need a watermark; rows later than it are dropped and counted. Given two batch
    DataFrames, the same operator joins archived streams.

    With a ``budget`` the join never holds more than that. It is exact until the budget
    is used up; from then on the rows go that are worth least by ``keep``, the result is
    a part of the exact one, and the counts in the query's progress say what is missing.

    Parameters
    ----------
    left, right : DataFrame
        The streams, each with ``withWatermark`` on its event time.
    on : str, list of str, or dict
        Key columns: ``"id"``, ``["a", "b"]``, or ``{"left_id": "right_id"}``.
    within : Within
        The window: ``left.t - before <= right.t <= left.t + after``.
    budget : Budget, optional
        What all shards and both sides together may hold. None is no limit.
    keep : goal or policy, optional
        ``MostResults()`` (the default), ``MostImportant("column")``, or a policy of
        :mod:`shedjoin.policies`.
    time : (str, str), optional
        Event-time columns. Taken from the watermarks of streams; batch DataFrames
        have none and must name them.
    discipline : {"probe_then_insert", "shed_then_join"}
        Whether an arrival that is not stored still meets the other side (default), or
        not, as in the iJoin paper.
    recompute : Amortised, Successive, Every or Adaptive
        When scores are computed again; the default costs a constant per arrival.
    seed : int, default 0
        Seed of the coins that some policies toss.
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
        shedding=shedding_of(
            budget, keep, discipline=discipline, recompute=recompute, seed=seed
        ),
        importance=keep.importance if isinstance(keep, MostImportant) else None,
        time=time,
        shards=shards,
        suffixes=suffixes,
        name=name,
    )
