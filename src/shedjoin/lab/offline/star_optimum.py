"""Finds the best possible use of a memory of few rows on archived streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.errors import ParameterError
from shedjoin.lab.offline.engine import spark_engine
from shedjoin.lab.offline.star import StarArchive
from shedjoin.lab.offline.star_matches import Parts, add_up, star_matches
from shedjoin.lab.offline.star_memory import Most, Options, side_memory
from shedjoin.lab.offline.star_shards import star_shards
from shedjoin.lab.offline.star_side import Prefilter
from shedjoin.spec.shedding import Discipline


@dataclass(frozen=True, slots=True, eq=False)
class StarOptimum:
    """The best results that a memory of few rows can find, and the rows that it holds.

    Parameters
    ----------
    parts : Parts
        Number and importance of the results.
    left, right : pyarrow.Table
        For each row that is stored: its number ``row`` in the table of the stream, and
        the instants ``stored_from`` and ``gone_at``. For rows that are still held after
        the last instant, ``gone_at`` is null.

    Examples
    --------
    See ``star_optimum``.
    """

    parts: Parts
    left: pa.Table
    right: pa.Table

    @property
    def size(self) -> int:
        """Number of all results."""
        return self.parts.size

    @property
    def importance(self) -> float:
        """Sum of the importances of all results."""
        return self.parts.importance

    def kept_at(self, instant: Any) -> tuple[list[int], list[int]]:  # noqa: ANN401
        """Numbers of the rows of both streams that are held after an instant."""
        left, right = (_held(table, instant) for table in (self.left, self.right))
        return left, right


def star_optimum(
    archive: StarArchive,
    *,
    rows: int | tuple[int, int],
    most: Most = "importance",
    discipline: Discipline = "shed_then_probe",
    prefilter: Prefilter = "matches",
) -> StarOptimum:
    """The best results that any policy can find with a memory of ``rows`` rows [1]_.

    Parameters
    ----------
    archive : StarArchive
        The streams and the relation, in local tables or on Spark.
    rows : int or pair of int
        Number of rows that fit into memory. Half of them are for each stream. A pair
        has a number for each stream. If the archive has shards, each shard has this
        memory.
    most : {"importance", "results"}, default "importance"
        What is maximised.
    discipline : {"shed_then_probe", "probe_then_shed"}, default "shed_then_probe"
        Whether a row that is shed for an arrival is matched with the arrivals of that
        instant first (``probe_then_shed``) or not (``shed_then_probe``). These are two
        of the four disciplines. Under ``shed_then_join``, arrivals that are not stored
        do not probe. Its optimum is not known, but it is no better than that of
        ``shed_then_probe``, which is returned instead. For ``probe_then_insert``, the
        optimum of ``probe_then_shed`` is returned.
    prefilter : {"matches", "relation", "none"}, default "matches"
        Which rows are never held in the search: rows without later matches
        (``"matches"``), rows without a valid relation row (``"relation"``), or none.
        The optimum is the same. The search takes longest with ``"none"``.

    Returns
    -------
    StarOptimum
        The results in three parts, and the rows that are held at each time.

    Notes
    -----
    *Source.* OSSJ, section 3.1 of [1]_. With ``most="results"``, it is SJA-S of section
    4 of [1]_.

    *Symbols.* ``rows`` is M. ``parts.left``, ``parts.right`` and ``parts.same`` are the
    weights of the best paths in the R, S and SA graph.

    *Departures.* Any number of rows may come at an instant. They are taken in the order
    of the table. A row is dropped after its last match. A row is not dropped while
    another row is held that, up to every later instant, gains no more than it. So there
    are far fewer memory states, and one of the best is among them.
    ``prefilter="relation"`` is the paper's algorithm, with formula (8): rows are
    dropped when all relation rows have ended that were valid when they came. If several
    choices are equally good, the first one found is taken. Line 39 of algorithm 3.1 is
    read with a strict comparison. Otherwise, SJA-S would have importance 32 in the
    paper's example, not 34. Lines 37 and 38 are read as the states after the last
    instant.

    *On Spark.* The driver reads keys, times and importances from the DataFrames, in the
    order of time, then of the other columns. It finds all matches. Tasks search for the
    best memory states. Time is cut at the instants after which no row in memory has any
    further match. There is a task for each stream, each shard, and each stretch of time
    between two cuts. Results are exactly those of local tables with the same order. The
    rows of a stretch cannot be divided among several tasks, because rows of different
    keys compete for the same memory. So a component of the relation can have its own
    task only if it is a shard with its own memory. If few rows have later matches,
    there are many stretches. For example, there are 6000 in 100,000 instants of the
    streams of the paper's figure 4. If windows are long, or with ``prefilter="none"``,
    there is one stretch, and each shard has two tasks.

    *Guarantee.* Optimal. Archives with too many memory states are refused.

    *Cost.* For each row, there are at most as many memory states as there are ways to
    choose half of ``rows`` from the rows of a window. The paper's streams have 5000
    rows each. With windows of 10 and M = 10, they take 0.02 seconds. With windows of
    50, they take 1 to 2 seconds for M = 10, and 10 to 25 seconds for M = 20.

    References
    ----------
    .. [1] K. Towne, Q. Zhu, C. Zuzarte, W.-C. Hou, "Window Query Processing for Joining
       Data Streams with Relations", CASCON 2007.

    Examples
    --------
    >>> def stream(key, values, importance):
    ...     time = range(len(values))
    ...     return pa.table({"time": time, key: values, "imp": importance})
    >>> left = stream("a", [1, 0, 1, 0, 2, 5], [5, 1, 4, 8, 3, 2])
    >>> right = stream("b", [1, 3, 3, 8, 3, 5], [1, 5, 2, 6, 4, 3])
    >>> relation = pa.table({
    ...     "a": [0, 1, 0, 4, 1, 5],
    ...     "b": [3, 5, 8, 5, 3, 8],
    ...     "begin": [None, None, None, None, None, 3],
    ...     "end": [None, None, None, None, 5, None],
    ... })
    >>> archive = StarArchive(
    ...     left, right, relation, on=(("a", "a"), ("b", "b")), within=3,
    ...     importance="imp", valid=("begin", "end"),
    ... )
    >>> best = star_optimum(archive, rows=4)
    >>> best.size, best.importance
    (11, 38.0)
    >>> best.parts.left
    Total(size=5, importance=18.0)
    >>> best.kept_at(3)
    ([2, 3], [1, 2])
    """
    capacities = _capacities(rows)
    for name, value, known in (
        ("most", most, Most),
        ("discipline", discipline, Discipline),
        ("prefilter", prefilter, Prefilter),
    ):
        if value not in get_args(known):
            raise ParameterError(
                f"{name}={value!r} is not known.",
                fix=f"choose one of {', '.join(get_args(known))}.",
            )
    options = Options(most, discipline, prefilter)
    engine = spark_engine(archive)
    tables = archive if engine is None else engine.collected(archive)
    shards = [(shard, star_matches(shard.star)) for shard in star_shards(tables)]
    memories = [
        side_memory(*shard, side, capacity, options)
        for side, capacity in enumerate(capacities)
        for shard in shards
    ]
    searches = [memory.search for memory in memories]
    if engine is None:
        leaves = [search.leaves() for search in searches]
    else:
        leaves = engine.leaves_of(archive, searches)
    found = [each.found(leave) for each, leave in zip(memories, leaves, strict=True)]
    stays = [each.stays(leave) for each, leave in zip(memories, leaves, strict=True)]
    parts = Parts(
        add_up(found[: len(shards)]),
        add_up(found[len(shards) :]),
        add_up(matches.total(matches.same) for _, matches in shards),
    )
    kept = stays[: len(shards)], stays[len(shards) :]
    return StarOptimum(parts, *map(pa.concat_tables, kept))


def _capacities(rows: object) -> tuple[int, int]:
    """Number of rows of each stream that fit into memory."""
    both = (rows // 2, rows // 2) if isinstance(rows, int) else rows
    if isinstance(both, tuple | list) and [type(each) for each in both] == [int, int]:
        left, right = both
        if min(left, right) >= 0:
            return left, right
    raise ParameterError(
        f"rows={rows!r} is not a number of rows.",
        fix="pass rows=10 for five of each stream, or rows=(4, 6).",
    )


def _held(stays: pa.Table, instant: object) -> list[int]:
    """Numbers of the rows that are held at an instant."""
    clock = stays["stored_from"].type
    now = pa.scalar(instant, clock)
    begun = pc.less_equal(stays["stored_from"], now)
    gone = stays["gone_at"]
    going_on = pc.or_kleene(pc.is_null(gone), pc.greater(gone, now))
    rows: list[int] = stays.filter(pc.and_(begun, going_on))["row"].to_pylist()
    return rows
