"""Chooses matches greedily on archives of any size, with a task for each key."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from shedjoin.errors import ParameterError
from shedjoin.lab.offline.archive import Archive, archived_matches
from shedjoin.lab.offline.graph import MatchGraph
from shedjoin.lab.offline.greedy import cheapest_matches, totals
from shedjoin.lab.plan import Costs
from shedjoin.plan.model import FITS, not_negative
from shedjoin.plan.ratio import by_ratio
from shedjoin.spec.window import Within

_KIND = ["matches", "rows"]


class Found(NamedTuple):
    """Number of matches in a subset, their work, and the number of all matches.

    Examples
    --------
    >>> Found(results=6, work=8.0, of=7).results
    6
    """

    results: int
    work: float
    of: int


def greedy_max_subset(
    work: float, left: DataFrame, right: DataFrame, *, within: Within, costs: Costs
) -> Found:
    """The result of ``lab.offline.greedy_max_subset``, for archives on Spark [1]_.

    Parameters
    ----------
    work : float
        Work that may be done for the whole archive, in the unit of the costs.
    left, right : DataFrame
        The archived streams: columns ``key`` and ``time``, a timestamp.
    within : Within
        The window.
    costs : Costs
        Work of an insertion and of a match.

    Returns
    -------
    Found
        The number of matches that are kept, and their work.

    Notes
    -----
    *Source.* Greedy Max-Subset, section 3.2.1 and Figure 1 of [1]_. No component has
    more than one key. So tasks find the components of each key. The driver only needs
    the number of components of each size.

    *Departures.* As in ``lab.offline.greedy_max_subset``. If components have equally
    many matches per work, the smaller ones are kept first, then those of the first key.

    *Guarantee.* None, since it is a heuristic.

    *Cost.* Two shuffles by key. A task holds all matches of one key in memory. The
    driver holds one number for each size of components.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.
    """
    not_negative("work", work)
    components = _components(left, right, within)
    sizes = components.groupBy(*_KIND).count().orderBy(*_KIND).toArrow()
    matches, rows, count = (column.to_numpy() for column in sizes.columns)
    needed = rows * costs.update + matches * costs.match
    results, spent = 0, 0.0
    for place in by_ratio(matches.astype(np.float64), needed):
        room = work * FITS - spent
        fits = count[place]
        if needed[place] > 0:
            fits = min(fits, max(0, int(room / needed[place])))
        results += int(fits * matches[place])
        spent += float(fits * needed[place])
        if fits < count[place]:
            size = (int(matches[place]), int(rows[place]))
            last = _nth(left, right, within, components, size, int(fits))
            kept = cheapest_matches(max(0.0, work - spent), last, costs=costs)
            part = last.subset(kept, costs)
            results, spent = results + part.results, spent + part.work
            break
    return Found(results, spent, int((matches * count).sum()))


def _components(left: DataFrame, right: DataFrame, within: Within) -> DataFrame:
    """Key, number, matches and rows of each component."""
    key = _checked(left, right)
    before, after = within.before_us, within.after_us

    def count(left: pa.Table, right: pa.Table) -> pa.Table:
        graph = _graph(left, right, before, after)
        matches, rows = totals(graph, graph.components())
        keys = (left if left.num_rows else right)["key"].slice(0, 1).combine_chunks()
        number = np.arange(matches.size)
        none = pa.array(np.zeros(matches.size, dtype=np.int64))
        columns = [keys.take(none), *map(pa.array, (number, matches, rows))]
        return pa.table(columns, ["key", "number", *_KIND])

    schema = f"key {key}, number long, matches long, rows long"
    ours = _prepared(left).groupBy("key")
    return ours.cogroup(_prepared(right).groupBy("key")).applyInArrow(count, schema)


def _nth(
    left: DataFrame,
    right: DataFrame,
    within: Within,
    components: DataFrame,
    size: tuple[int, int],
    place: int,
) -> MatchGraph:
    """The component at a position among all components of one size."""
    alike = components.where((F.col("matches") == size[0]) & (F.col("rows") == size[1]))
    ordered = alike.select("key", "number").orderBy("key", "number")
    [(key, number)] = ordered.offset(place).take(1)
    of_left, of_right = (
        _prepared(frame).where(F.col("key") == F.lit(key)).toArrow()
        for frame in (left, right)
    )
    graph = _graph(of_left, of_right, within.before_us, within.after_us)
    return graph.part(graph.components() == number)


def _graph(left: pa.Table, right: pa.Table, before: int, after: int) -> MatchGraph:
    """Graph of the matches of one key.

    Rows are numbered in the order of time, so that all tasks number them in the same
    way.
    """
    streams = []
    for table in (left, right):
        time = np.sort(table["time"].to_numpy())
        streams.append(Archive(np.zeros(time.size, dtype=np.int64), time))
    return archived_matches(*streams, before=before, after=after)


def _prepared(frame: DataFrame) -> DataFrame:
    rows = frame.select("key", F.unix_micros("time").alias("time"))
    return rows.where(F.col("key").isNotNull() & F.col("time").isNotNull())


def _checked(left: DataFrame, right: DataFrame) -> str:
    """Check both archives, and return the type of their keys."""
    types = []
    for name, frame in (("left", left), ("right", right)):
        if frame.isStreaming:
            raise ParameterError(
                f"{name} is a stream, and a yardstick needs all of its rows.",
                fix="read the archive with spark.read.",
            )
        found = dict(frame.dtypes)
        if "key" not in found or found.get("time") != "timestamp":
            raise ParameterError(
                f"{name} has columns {found}.",
                fix='select(F.col(...).alias("key"), F.col(...).alias("time")), and '
                "let the time be a timestamp.",
            )
        types.append(found["key"])
    if types[0] != types[1]:
        raise ParameterError(
            f"Keys of type {types[0]} cannot equal keys of type {types[1]}.",
            fix="cast one of them.",
        )
    return types[0]
