"""The public calls. Each imports its engine only when it is called."""

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

    The result is an ordinary streaming DataFrame. Row for row it equals the result of
    Spark's own inner join with the same keys and time condition. Both streams need a
    watermark. Rows behind the watermark are late: they are dropped by the rule of
    Spark's own join, and counted. With two batch DataFrames, the same operator joins
    archived streams.

    With a ``budget``, the join never holds more than the budget. The result is exact
    until the budget is used up. From then on, the join drops the rows that are worth
    least by ``keep``, and the result is a part of the exact result. The counts in the
    query's progress report how much is missing.

    Parameters
    ----------
    left, right : DataFrame
        The streams, each with ``withWatermark`` on its event time.
    on : str, list, dict, Band or Where
        Key columns: ``"id"``, ``["a", "b"]``, or by stream,
        ``{"left": "id", "right": "order_id"}``. Or predicates, ``Band("price", 0.5)``
        or ``Where("left.x", "<", "right.y")``, or a list of key columns and predicates.
        Without a key or a Band, the right stream is copied to every shard. With
        ``through``, ``on`` names the key columns of the streams, if their names differ
        from those in the relation.
    within : duration, dict or Within
        How long a row waits for its partners: ``"15 minutes"``, or by stream,
        ``{"left": "15 minutes", "right": "0 seconds"}``. Or the window,
        ``Within(before=..., after=...)``:
        ``left.t - before <= right.t <= left.t + after``.
    how : str, default "inner"
        ``"inner"``, ``"left"``, ``"right"``, ``"full"``, ``"left_semi"`` or
        ``"left_anti"``, in any spelling of PySpark. An outer join also emits the rows
        that find no partner, with nulls: a row of the left, of the right, or of both
        streams. It emits them when the watermark passes the end of their wait, and a
        row whose key is null at once. A semi join emits each left row that finds a
        partner, once. An anti join emits each left row that finds none, at the end of
        its wait. All but inner joins need two streams, key columns and no budget.
    through : Relation, optional
        A relation that says which keys of both streams belong together. A left and a
        right row form a result if a row of the relation has both their keys and is
        active at both their times. As in SQL, they form one result for each such
        relation row. A stream row is stored once, however many relation rows it has.
    budget : Budget, optional
        What all shards and both streams together may hold. None means no limit. The
        rows of a relation do not count.
    keep : goal or policy, optional
        ``MostResults()`` (the default), ``MostImportant("column")``, ``Sample()``,
        ``Sample(of="column")``, or a policy of :mod:`shedjoin.policies`.
    time : str, (str, str) or dict, optional
        Event-time columns: one name for both streams, or one for each. By default, the
        columns of the watermarks. Batch DataFrames have no watermark, so their
        event-time columns must be named.
    suffixes : (str, str), default ("_left", "_right")
        Appended to the names of columns, other than keys, that both streams have.
    name : str, default "shedjoin"
        Name of the counts in ``query.lastProgress["observedMetrics"]``. Two joins in
        one query need two names.
    event_time : str, optional
        Name of a column to add: the later of both times. For a row without a partner,
        and for a result of a semi join, it is the end of the row's wait. Spark treats
        this column as an event time, so windows, ``dropDuplicatesWithinWatermark`` and
        further joins over it work in append mode. By this time, no result is late.
    control : Control, optional
        A folder of messages that change budget and policy while the query runs. It is
        a source of the query, so it cannot be added to an existing checkpoint, nor
        removed from it.
    options : Options, optional
        Settings that few queries need: the number of shards, the seed, and settings for
        research and tuning.

    Returns
    -------
    DataFrame
        Keys that have the same name in both streams, each as one column. Then the other
        columns of the left stream, and those of the right stream. Semi and anti joins
        have the columns of the left stream alone.
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

    Rows with the times t form a result if ``max(t) - t[s]`` is at most ``within[s]``
    for every stream s: a row of stream s waits that long for the others. The result
    depends on event times alone, not on the order in which rows arrive. Late rows are
    dropped and counted as in :func:`join`.

    Parameters
    ----------
    streams : dict of DataFrame
        Two to five streams by name, each with ``withWatermark`` on its event time. Or
        two to five batch DataFrames.
    on : str, list, dict, Band or Where
        Key columns: ``"id"``, ``["a", "b"]``, or a dict with the keys of each stream.
        Or predicates as in :func:`join`, or a list of both. Without a key, the first
        stream is spread over the shards, and rows of the other streams are copied. So
        name the largest stream first.
    within : str, timedelta, or dict
        How long a row waits for the others: ``"1 minute"``, or by stream.
    budget : Budget, optional
        What all shards and streams together may hold: ``Budget(rows=1_000_000)`` or
        ``Budget(memory="512 MB")``. A join by predicates may limit the time of its
        micro-batches instead: ``Budget(cpu=0.7)``. Under a memory budget, arrivals are
        joined in blocks. A block is an eighth of what a shard may hold, but at least
        256 rows or 64 KiB. At the end of each block the join is within the budget.
    keep : goal or policy, optional
        With a memory budget: ``MostResults()`` (the default), which keeps the rows that
        bring most results over all streams; ``policies.Fifo()``, ``Recent()``,
        ``UntilExpiry()``, ``Rand()``, ``Prob()`` or ``Age()``; or
        ``MostImportant(..., by=policies.Greedy())`` with a column that some streams
        have, or with importances by stream. With a CPU budget: ``policies.Harvest()``
        (the default) or ``policies.RandomDrop()``. Two streams joined by key columns
        may have all budgets and policies of :func:`join`.
    time : str or dict, optional
        Event-time columns by stream. By default, the columns of the watermarks.
    name, event_time, control, options
        As in :func:`join`.

    Returns
    -------
    DataFrame
        Keys that have the same name in all streams, each as one column. Then the other
        columns, stream by stream. If several streams have a column of the same name,
        ``_`` and the name of the stream are appended to it.
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
    """Aggregate the results of a join over windows of event time.

    If the join samples (``keep=Sample()``), each aggregate is an estimate of the same
    aggregate over the exact join, with a standard error and an interval. For any other
    join, Spark aggregates the emitted rows.

    If the results are a stream, each window is emitted once, in append mode, when no
    more results of it can come. Windows over the time of one stream are emitted later
    than windows over the latest time, by the retention of that stream. A row that
    waited for its partner is not late for its window, even if its time lies behind the
    watermark.

    Parameters
    ----------
    results : DataFrame
        Results of :func:`join` or :func:`multijoin`, a stream or a table.
    window : str or timedelta
        Length of the windows, such as ``"1 minute"``.
    aggregates : dict
        Names with ``Count()``, ``Count("column")``, ``Sum("column")`` or
        ``Avg("column")``. Each also takes an expression in place of the name of a
        column. Nulls are skipped as in SQL. Unless the results are a sample, Spark's
        own aggregates are possible as well, such as ``F.max("bid")``.
    time : str, Column, or several, optional
        The time that assigns a row to a window: a time column of the join. If several
        are given, the latest of them is used. By default, it is the ``event_time`` of
        the join, or else the latest of all its times. Streams that are not results of a
        join need ``withWatermark`` on this column.
    slide : str or timedelta, optional
        Distance between the starts of two windows. By default the length of a window,
        so that windows do not overlap.
    by : str or list of str, optional
        Columns to group by within a window.
    level : float, default 0.95
        Confidence level: the share of the intervals that contain the exact value.

    Returns
    -------
    DataFrame
        ``window``, the columns of ``by``, and the aggregates. For a sample, an
        aggregate named x has four columns: ``x``, ``x_error`` (standard error),
        ``x_low`` and ``x_high``. These columns follow: ``rows`` and ``clusters``, how
        many of them the sample has in the window; ``effective_clusters``, the number of
        clusters of equal weight that would give as certain an error (the fewest of any
        aggregate); and ``trusted``. An interval is not trusted if there are so few
        effective clusters that it may miss the exact value more often than ``level``
        says. It is also not trusted if rows came further out of order than the
        lateness, so that results may be missing. A window or group without a kept row
        is left out.

    Notes
    -----
    *Source.* Horvitz-Thompson totals, ratio estimator, Satterthwaite's degrees of
    freedom for Student's t: :mod:`shedjoin.sampling.horvitz_thompson` has the formulas.
    A row of a sample has ``_weight``, 1 / the probability that it was kept, and
    ``_cluster``, the sampled unit that it belongs to. If every weight is 1, the values
    are exact.

    *Guarantee.* COUNT and SUM of a sample are unbiased over rows that come in order or
    within the lateness. The bias of AVG vanishes as the number of clusters grows. The
    estimated error is unbiased if the weights within a cluster are equal. If these
    weights grow and all values have one sign, the estimated error tends to be too
    large.
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
    """Turn a missing package into an error that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"shedjoin.{call} needs {error.name!r}, which is not installed.",
            fix='run pip install "shedjoin[spark]".',
        ) from error
