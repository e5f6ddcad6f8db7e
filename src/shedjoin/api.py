"""The public calls; an engine is imported when it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shedjoin.control.folder import Control
from shedjoin.errors import MissingExtraError
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal, shedding_of, values_of
from shedjoin.sampling.aggregates import Aggregate
from shedjoin.spec.budget import Budget
from shedjoin.spec.cells import Cells
from shedjoin.spec.conditions import OnPair, OnStreams, split_on
from shedjoin.spec.multijoin import WithinEach
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.spec.shedding import Discipline
from shedjoin.spec.window import Duration, Within

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def join(  # noqa: PLR0913  (two streams; all else by keyword)
    left: DataFrame,
    right: DataFrame,
    *,
    on: OnPair,
    within: Within,
    how: str = "inner",
    budget: Budget | None = None,
    keep: Goal | Policy | None = None,
    time: tuple[str, str] | None = None,
    discipline: Discipline = "probe_then_insert",
    recompute: Recompute = DEFAULT,
    seed: int = 0,
    shards: int | None = None,
    suffixes: tuple[str, str] = ("_left", "_right"),
    name: str = "shedjoin",
    event_time: str | None = None,
    control: Control | None = None,
    cells: Cells | None = None,
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
    on : str, list, dict, Band or Where
        Key columns: ``"id"``, ``["a", "b"]``, or ``{"left_id": "right_id"}``. Or
        predicates, ``Band("price", 0.5)`` or ``Where("left.x", "<", "right.y")``, or a
        list of key columns and predicates. Without a key or a Band, the right stream is
        copied to every shard.
    within : Within
        The window: ``left.t - before <= right.t <= left.t + after``.
    how : str, default "inner"
        Inner joins only, so far.
    budget : Budget, optional
        What all shards and both sides together may hold. None is no limit.
    keep : goal or policy, optional
        ``MostResults()`` (the default), ``MostImportant("column")``, ``Sample()``,
        ``Sample(of="column")``, or a policy of :mod:`shedjoin.policies`.
    time : (str, str), optional
        Event-time columns. Taken from the watermarks of streams; batch DataFrames
        have none and must name them.
    discipline : str, default "probe_then_insert"
        An arrival meets the other side, then is stored or not. Or arrivals of an
        instant are taken together: they are stored, shedding is done, and then those
        who are left meet (``"shed_then_join"``, iJoin), or all arrivals meet those who
        are left and each other (``"shed_then_probe"``, star-streaming join). With
        ``"probe_then_shed"`` all meet before shedding is done.
    recompute : Amortised, Successive, Every or Adaptive
        When scores are computed again; the default costs a constant per arrival.
    seed : int, default 0
        Seed of ``Sample()`` and of the coins of policies that have no ``seed`` of their
        own. Of a policy with one, such as ``Rand`` or ``EqCluster``, its own counts.
    shards : int, optional
        Number of shards, the units of state and parallelism. The shuffle partition
        count by default. Fixed for the life of a checkpoint.
    suffixes : (str, str), default ("_left", "_right")
        Added to columns other than keys that stand on both sides.
    name : str, default "shedjoin"
        Name of the counts in ``query.lastProgress["observedMetrics"]``. Two joins in
        one query need two names.
    event_time : str, optional
        Name of a column to add: the later of both times. Spark knows it as event time,
        so windows, ``dropDuplicatesWithinWatermark`` and further joins over it work in
        append mode. No result is late by it.
    control : Control, optional
        A folder of messages that change budget and policy while the query runs. It is
        a source of the query: a checkpoint without one cannot get one, nor lose it.
    cells : Cells, optional
        How a join by Band without key columns is spread over shards, from
        :func:`cells_of`. By default cells are eight times as wide as ``eps``, which
        suits values that are spread over many times that. Fixed for the life of a
        checkpoint.

    Returns
    -------
    DataFrame
        Keys of the same name once, then the other columns of left and of right.
    """
    with spark_for("join"):
        from shedjoin.spark.join import join as spark_join
    return spark_join(
        left,
        right,
        on=on,
        within=within,
        how=how,
        shedding=shedding_of(
            budget,
            keep,
            discipline=discipline,
            recompute=recompute,
            seed=seed,
            by_predicates=bool(split_on(on).predicates),
        ),
        importance=values_of(keep),
        time=time,
        shards=shards,
        suffixes=suffixes,
        name=name,
        event_time=event_time,
        control=control,
        cells=cells,
    )


def multijoin(  # noqa: PLR0913  (one mapping; all else by keyword)
    streams: Mapping[str, DataFrame],
    *,
    on: OnStreams,
    within: WithinEach,
    budget: Budget | None = None,
    keep: Goal | Policy | None = None,
    time: Mapping[str, str] | None = None,
    seed: int = 0,
    shards: int | None = None,
    name: str = "shedjoin",
    event_time: str | None = None,
    control: Control | None = None,
    cells: Cells | None = None,
) -> DataFrame:
    """Join two to five streams by key or by predicates, within windows of event time.

    Rows of the times t form a result if ``max(t) - t[s]`` is at most ``within[s]`` for
    every stream s: each row waits so long for the others. That depends on event times
    alone, not on the order in which rows come. Late rows are dropped and counted as in
    :func:`join`.

    Parameters
    ----------
    streams : dict of DataFrame
        Two to five streams by name, each with ``withWatermark`` on its event time; or
        as many batch DataFrames.
    on : str, list, dict, Band or Where
        Key columns: ``"id"``, ``["a", "b"]``, or those of each stream by its name. Or
        predicates as in :func:`join`, or a list of both. Without a key the first stream
        is spread over the shards and rows of the others are copied: name the largest
        first.
    within : str, timedelta, or dict
        How long a row waits for the others: ``"1 minute"``, or by stream.
    budget : Budget, optional
        What all shards and streams together may hold: ``Budget(rows=1_000_000)`` or
        ``Budget(memory="512 MB")``. Or, of a join by predicates, the time of its
        micro-batches: ``Budget(cpu=0.7)``. Arrivals are taken in blocks of an eighth of
        what a shard may hold, at least 256 rows or 64 KiB; at the end of each block
        the budget holds.
    keep : goal or policy, optional
        Within memory ``MostResults()`` (the default), which keeps the rows that bring
        most results over all streams, ``policies.Fifo()``, ``Recent()``,
        ``UntilExpiry()``, ``Rand()``, ``Prob()``, ``Age()``, or
        ``MostImportant(..., by=policies.Greedy())`` with a column that some streams
        have, or with importances by stream. Within time ``policies.Harvest()`` (the
        default) or ``policies.RandomDrop()``. A budget by key columns of two streams
        is that of :func:`join`.
    time : dict, optional
        Event-time columns by stream. Taken from the watermarks of streams.
    seed, shards, name, event_time, control, cells
        As in :func:`join`.

    Returns
    -------
    DataFrame
        Keys that have the same name in all streams once, then the other columns,
        stream by stream. A name that stands in several streams gets ``_`` and the name
        of its stream appended.
    """
    with spark_for("multijoin"):
        from shedjoin.spark.multijoin import multijoin as spark_multijoin
    return spark_multijoin(
        streams,
        on=on,
        within=within,
        shedding=shedding_of(
            budget, keep, seed=seed, by_predicates=bool(split_on(on).predicates)
        ),
        importance=values_of(keep),
        time=time,
        shards=shards,
        name=name,
        event_time=event_time,
        control=control,
        cells=cells,
    )


def aggregate(
    results: DataFrame,
    *,
    window: Duration,
    aggregates: Mapping[str, Column],
    time: str | Column | Sequence[str | Column] | None = None,
    slide: Duration | None = None,
    by: str | Sequence[str] = (),
) -> DataFrame:
    """Aggregate the results of a join over windows of one of their own times.

    What Spark's ``groupBy(window(...))`` does, also for a time that may lie behind the
    watermark: a row that waited for its partner is not late for its window. The windows
    come out in append mode, each once, when no more results of it can come; over the
    time of a stream that waits for w, that is w later than over the latest time.

    Over the ``event_time`` of :func:`join` Spark's own calls give the same.

    Parameters
    ----------
    results : DataFrame
        Results of :func:`join` or :func:`multijoin`, a stream or a table.
    window, slide, by
        As in :func:`estimate`.
    aggregates : dict
        Names with aggregates of Spark: ``{"n": F.count("*"), "worth": F.sum("bid")}``.
    time : str, Column, or several, optional
        What puts a row into a window: a time column of the join, or of several the
        latest. By default the ``event_time`` of the join, or else the latest of all.

    Returns
    -------
    DataFrame
        ``window``, the columns of ``by`` and the aggregates.
    """
    with spark_for("aggregate"):
        from shedjoin.spark.windows import aggregate as spark_aggregate
    return spark_aggregate(
        results, window=window, aggregates=aggregates, time=time, slide=slide, by=by
    )


def estimate(
    results: DataFrame,
    *,
    window: Duration,
    aggregates: Mapping[str, Aggregate],
    time: str | Column | Sequence[str | Column] | None = None,
    slide: Duration | None = None,
    by: str | Sequence[str] = (),
    level: float = 0.95,
) -> DataFrame:
    """Estimate COUNT, SUM and AVG over windows of a sampled join, with intervals.

    The rows are weighted by ``_weight``, 1 / the probability that they were kept, and
    come in sampled units told apart by ``_cluster``; both are columns of the results.
    All is done by Spark's own aggregations. If every weight is 1, the values are exact.

    On a stream the windows come out in append mode, each once, when the watermark has
    passed it. No row of a join is late for its window.

    Parameters
    ----------
    results : DataFrame
        Rows of a sampled join, a stream or a table.
    window : str or timedelta
        Length of the windows, such as ``"1 minute"``.
    aggregates : dict
        Names with ``Count()``, ``Count("column")``, ``Sum("column")`` or
        ``Avg("column")``; also of a Spark expression. Nulls are skipped as in SQL.
    time : str, Column, or several, optional
        What puts a row into a window: one of the two time columns of the join, or of
        several the latest. By default the later of the two. Other streams need
        ``withWatermark`` on it.
    slide : str or timedelta, optional
        Distance between the beginnings of windows that overlap. The length by default.
    by : str or list of str, optional
        Columns to group by within a window.
    level : float, default 0.95
        Share of the intervals that hold the exact value.

    Returns
    -------
    DataFrame
        ``window``, the columns of ``by``, and for an aggregate named x: ``x``,
        ``x_error`` (standard error), ``x_low`` and ``x_high``. Then ``rows`` and
        ``clusters`` seen, ``effective_clusters`` (how many equal clusters would tell
        the error as well; the fewest of any aggregate), and ``trusted``: false where
        they are so few that the interval may miss the exact value more often than it
        says, or where rows came further out of order than the lateness and may have
        lost results. A window or group of which nothing was kept has no row.

    Notes
    -----
    *Source.* Horvitz-Thompson totals, ratio estimator, Satterthwaite's degrees of
    freedom for Student's t: :mod:`shedjoin.sampling.horvitz_thompson` has the formulas.

    *Guarantee.* COUNT and SUM are unbiased over rows that come in order or within the
    lateness; AVG is for many clusters. The error is
    unbiased if the weights of a cluster are equal, and on the safe side if they grow
    and values have one sign.
    """
    with spark_for("estimate"):
        from shedjoin.spark.estimate import estimate as spark_estimate
    return spark_estimate(
        results,
        window=window,
        aggregates=aggregates,
        time=time,
        slide=slide,
        by=by,
        level=level,
    )


@contextmanager
def spark_for(call: str) -> Iterator[None]:
    """Say what to install if the engine is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"shedjoin.{call} needs {error.name!r}, which is not installed.",
            fix='run pip install "shedjoin[spark]".',
        ) from error
