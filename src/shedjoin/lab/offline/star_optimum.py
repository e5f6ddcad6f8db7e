"""The best that a memory of few rows can do on archived streams."""

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
    """What a memory of few rows finds at best, and how.

    Parameters
    ----------
    parts : Parts
        Size and importance of what is found.
    left, right : pyarrow.Table
        For each row that is stored: its number ``row`` in the table of the stream, and
        the instants ``stored_from`` and ``gone_at``. Rows that are still there after
        the last instant have no ``gone_at``.

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
        """Rows of both streams that memory holds after an instant."""
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
    """The most that any way to shed can find in a memory of so many rows [1]_.

    Parameters
    ----------
    archive : StarArchive
        The streams and the relation, here or on Spark.
    rows : int or pair of int
        Rows that fit into memory, half of them for each stream, or a number for each.
        If the archive has shards, this is the memory of each shard.
    most : {"importance", "results"}, default "importance"
        What is maximised.
    discipline : {"shed_then_probe", "probe_then_shed"}, default "shed_then_probe"
        Two of the four disciplines: whether a row that leaves for an arrival has met
        the arrivals of that instant (``probe_then_shed``) or not. The optimum of
        ``shed_then_join``, where arrivals that are not stored do not probe, is not
        known. It is no better than that of ``shed_then_probe``, which is returned in
        its place. Likewise, the optimum of ``probe_then_shed`` is returned in place of
        that of ``probe_then_insert``.
    prefilter : {"matches", "relation", "none"}, default "matches"
        Which rows the search leaves out of memory: rows without a match to come
        (``"matches"``), rows that no relation row relates (``"relation"``), or none.
        The optimum is the same; the search takes longest with ``"none"``.

    Returns
    -------
    StarOptimum
        What is found, in parts, and which rows are held when.

    Notes
    -----
    *Source.* Section 3.1 of [1]_: OSSJ, and with ``most="results"`` SJA-S of its
    section 4.

    *Symbols.* ``rows`` is M. ``parts.left``, ``parts.right`` and ``parts.same`` are the
    weights of the best paths in the R, S and SA graph.

    *Departures.* Any number of rows may come at an instant. They are taken in the order
    of the table. Rows leave memory with their last match. And a row does not leave
    while another row is held that, up to every later instant, gains no more than it. So
    there are far fewer memory states, and one of the best is among them.
    ``prefilter="relation"`` is the paper's algorithm, with formula (8): rows also leave
    when all relation rows have ended that were active when they came. If several ways
    are equally good, the first one found is taken. Line 39 of algorithm 3.1 is read
    with a strict comparison. Without that, the paper's example would have importance 32
    for SJA-S, not 34. Lines 37 and 38 are read as the states after the last instant.

    *On Spark.* The driver reads keys, times and importances from the DataFrames, in
    order of time, then of the other columns, and finds all matches. Tasks search for
    the best memories. Time is cut at the instants after which no row in memory has a
    match to come. There is a task for each stream, each shard, and each stretch of time
    between two cuts. Results are those of local tables of that order, to the last bit.
    Rows that share a memory in such a stretch cannot be searched apart, because rows of
    different keys compete for the same room. So a component of the relation can be a
    task of its own only if it is a shard with a memory of its own. If few rows have
    matches to come, there are many stretches: 6000 in 100,000 instants of the streams
    of the paper's figure 4. If windows are long or ``prefilter="none"``, there is one
    stretch, and each shard has two tasks.

    *Guarantee.* Optimal. Archives with too many memory states are refused.

    *Cost.* For each row at most as many memory states as there are ways to choose half
    of ``rows`` from the rows of a window. The paper's 5000 rows of each stream, with
    windows of 10 and M = 10, take 0.02 seconds. With windows of 50 it is 1 to 2 seconds
    for M = 10 and 10 to 25 seconds for M = 20.

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
    """Number of rows of each stream that fit."""
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
    """Rows whose stay includes an instant."""
    clock = stays["stored_from"].type
    now = pa.scalar(instant, clock)
    begun = pc.less_equal(stays["stored_from"], now)
    gone = stays["gone_at"]
    going_on = pc.or_kleene(pc.is_null(gone), pc.greater(gone, now))
    rows: list[int] = stays.filter(pc.and_(begun, going_on))["row"].to_pylist()
    return rows
