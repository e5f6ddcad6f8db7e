"""The public calls; an engine is imported when it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shedjoin.control.folder import Control
from shedjoin.errors import MissingExtraError
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal
from shedjoin.request.options import DEFAULTS, Options
from shedjoin.request.relations import Relation
from shedjoin.request.spec import Asked
from shedjoin.sampling.aggregates import Aggregate
from shedjoin.spec.budget import Budget
from shedjoin.spec.conditions import OnStreams
from shedjoin.spec.keys import SIDES
from shedjoin.spec.multijoin import check_streams
from shedjoin.spec.window import Duration, WithinEach, WithinPair

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def join(  # noqa: PLR0913  (two streams; all else by keyword)
    left: DataFrame,
    right: DataFrame,
    *,
    on: OnStreams | None = None,
    within: WithinPair,
    how: str = "inner",
    through: Relation | None = None,
    budget: Budget | None = None,
    keep: Goal | Policy | None = None,
    time: str | tuple[str, str] | Mapping[str, str] | None = None,
    suffixes: tuple[str, str] | None = None,
    name: str = "shedjoin",
    event_time: str | None = None,
    control: Control | None = None,
    options: Options = DEFAULTS,
) -> DataFrame:
    """Join two streams within a window of event time, by key, predicate or relation.

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
        Key columns: ``"id"``, ``["a", "b"]``, or by stream,
        ``{"left": "id", "right": "order_id"}``. Or predicates, ``Band("price", 0.5)``
        or ``Where("left.x", "<", "right.y")``, or a list of key columns and predicates.
        Without a key or a Band, the right stream is copied to every shard. With
        ``through``, the keys of the streams where they are called otherwise than in the
        relation.
    within : duration, dict or Within
        How long a row waits for its partners: ``"15 minutes"``, or by stream,
        ``{"left": "15 minutes", "right": "0 seconds"}``. Or the window,
        ``Within(before=..., after=...)``:
        ``left.t - before <= right.t <= left.t + after``.
    how : str, default "inner"
        Inner joins only, so far.
    through : Relation, optional
        A relation that says which keys of both streams belong together. A left and a
        right row are a result if a row of the relation has both their keys and is
        active at both their times; as in SQL, once for each such relation row. A stream
        row is stored once, however many relation rows it has.
    budget : Budget, optional
        What all shards and both sides together may hold. None is no limit. A relation
        is not counted.
    keep : goal or policy, optional
        ``MostResults()`` (the default), ``MostImportant("column")``, ``Sample()``,
        ``Sample(of="column")``, or a policy of :mod:`shedjoin.policies`.
    time : str, (str, str) or dict, optional
        Event-time columns: one name for both streams, or that of each. Taken from the
        watermarks of streams; batch DataFrames have none and must name them.
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
    options : Options, optional
        Settings that few queries need: the number of shards, the seed, and what
        research and tuning change.

    Returns
    -------
    DataFrame
        Keys of the same name once, then the other columns of left and of right.
    """
    asked = Asked(
        on=on,
        within=within,
        how=how,
        through=through,
        budget=budget,
        keep=keep,
        time=time,
        suffixes=suffixes,
        options=options,
    )
    frames = dict(zip(SIDES, (left, right), strict=True))
    return _joined(frames, asked, name, event_time, control)


def multijoin(  # noqa: PLR0913  (one mapping; all else by keyword)
    streams: Mapping[str, DataFrame],
    *,
    on: OnStreams,
    within: WithinEach,
    budget: Budget | None = None,
    keep: Goal | Policy | None = None,
    time: str | Mapping[str, str] | None = None,
    name: str = "shedjoin",
    event_time: str | None = None,
    control: Control | None = None,
    options: Options = DEFAULTS,
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
    time : str or dict, optional
        Event-time columns by stream. Taken from the watermarks of streams.
    name, event_time, control, options
        As in :func:`join`.

    Returns
    -------
    DataFrame
        Keys that have the same name in all streams once, then the other columns,
        stream by stream. A name that stands in several streams gets ``_`` and the name
        of its stream appended.
    """
    check_streams(streams)
    asked = Asked(
        on=on,
        within=within,
        budget=budget,
        keep=keep,
        time=time,
        options=options,
    )
    return _joined(dict(streams), asked, name, event_time, control)


def _joined(
    frames: dict[str, DataFrame],
    asked: Asked,
    name: str,
    event_time: str | None,
    control: Control | None,
) -> DataFrame:
    with spark_for("join"):
        from shedjoin.spark.join import join as spark_join
    return spark_join(frames, asked, name, event_time, control)


def aggregate(
    results: DataFrame,
    *,
    window: Duration,
    aggregates: Mapping[str, Aggregate | Column],
    time: str | Column | Sequence[str | Column] | None = None,
    slide: Duration | None = None,
    by: str | Sequence[str] = (),
    level: float = 0.95,
) -> DataFrame:
    """Aggregate the results of a join over windows of one of their own times.

    Of a sampled join (``keep=Sample()``) each aggregate is an estimate for the exact
    join, with a standard error and an interval. Of any other join it is what Spark
    computes from the emitted rows.

    On a stream the windows come out in append mode, each once, when no more results of
    it can come; over the time of a stream that waits for w, that is w later than over
    the latest time. A row that waited for its partner is not late for its window, even
    if its time lies behind the watermark.

    Parameters
    ----------
    results : DataFrame
        Results of :func:`join` or :func:`multijoin`, a stream or a table.
    window : str or timedelta
        Length of the windows, such as ``"1 minute"``.
    aggregates : dict
        Names with ``Count()``, ``Count("column")``, ``Sum("column")`` or
        ``Avg("column")``; also of an expression. Nulls are skipped as in SQL. If the
        results are no sample, also Spark's own aggregates, ``F.max("bid")``.
    time : str, Column, or several, optional
        What puts a row into a window: a time column of the join, or of several the
        latest. By default the ``event_time`` of the join, or else the latest of all.
        Other streams need ``withWatermark`` on it.
    slide : str or timedelta, optional
        Distance between the beginnings of windows that overlap. The length by default.
    by : str or list of str, optional
        Columns to group by within a window.
    level : float, default 0.95
        Share of the intervals that hold the exact value.

    Returns
    -------
    DataFrame
        ``window``, the columns of ``by``, and the aggregates. Of a sample there are
        four columns for an aggregate named x: ``x``, ``x_error`` (standard error),
        ``x_low`` and ``x_high``. Then ``rows`` and ``clusters`` seen,
        ``effective_clusters`` (how many equal clusters would tell the error as well;
        the fewest of any aggregate), and ``trusted``: false where they are so few that
        the interval may miss the exact value more often than it says, or where rows
        came further out of order than the lateness and may have lost results. A window
        or group of which nothing was kept has no row.

    Notes
    -----
    *Source.* Horvitz-Thompson totals, ratio estimator, Satterthwaite's degrees of
    freedom for Student's t: :mod:`shedjoin.sampling.horvitz_thompson` has the formulas.
    A row of a sample has ``_weight``, 1 / the probability that it was kept, and
    ``_cluster``, the sampled unit that it belongs to. If every weight is 1, the values
    are exact.

    *Guarantee.* COUNT and SUM of a sample are unbiased over rows that come in order or
    within the lateness; AVG is for many clusters. The error is unbiased if the weights
    of a cluster are equal, and on the safe side if they grow and values have one sign.
    """
    with spark_for("aggregate"):
        from shedjoin.spark.aggregate import aggregate as spark_aggregate
    return spark_aggregate(
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
