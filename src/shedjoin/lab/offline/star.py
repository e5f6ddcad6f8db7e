"""Describes archives of two streams that are joined through a relation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from shedjoin.spec.window import Duration, Within

Pair: TypeAlias = tuple[str, str]
On: TypeAlias = str | Pair | tuple[Pair, Pair]
Rows: TypeAlias = Any
"""A pyarrow table, a Spark DataFrame, or None if allowed. It is ``Any``, because
pyarrow has no type hints."""


@dataclass(frozen=True, slots=True, eq=False)
class StarArchive:
    """Two archived streams and the relation through which they join [1]_.

    A left row matches a right row within the window if a row of the relation has the
    keys of both, and was valid at both of their times.

    Parameters
    ----------
    left, right : pyarrow.Table or Spark DataFrame
        The streams, with rows in any order. Rows with a null key have no matches.
    relation : pyarrow.Table, Spark DataFrame or None
        The relation. With None, rows match if their keys are equal.
    on : tuple
        For each stream, its key and the column of the relation that equals it:
        ``(("a", "a"), ("b", "b"))``. Without a relation, the key of both streams or of
        each of them: ``"key"`` or ``("a", "b")``.
    within : Within, str, timedelta or int
        How far apart the times of matching rows may be, both ends included. Pass a
        number if times are whole numbers.
    time : str or pair of str, default "time"
        Column of the time, of both streams or of each of them. Times are timestamps or
        whole numbers.
    importance : str or pair of str, optional
        Column of the importance. Without it, every row has importance 1. The importance
        of a match is the smaller one of its two rows.
    valid : pair of str, optional
        Columns of the relation with the start (inclusive) and the end (exclusive) of a
        row's validity. A null means that there is no bound. Without ``valid``, all rows
        are always valid.
    shard : str or pair of str, optional
        Column of both streams with the shard of a row. Rows of different shards do not
        match, and each shard has its own memory.

    Notes
    -----
    *Source.* Sections 2.1 and 2.2 of [1]_, formulas (3), (4) and (6).

    *Symbols.* ``left`` and ``right`` are R and S, ``relation`` is F, and ``valid`` is
    [begin, end). A window of m instants is ``within=m - 1``.

    *Departures.* A stream may have any number of rows at an instant. Formula (3), taken
    literally, counts matches of rows of one instant twice. Here they count once. In the
    paper, F has no duplicates. So rows of the relation with the same keys must not be
    valid at the same time.

    References
    ----------
    .. [1] K. Towne, Q. Zhu, C. Zuzarte, W.-C. Hou, "Window Query Processing for Joining
       Data Streams with Relations", CASCON 2007.

    Examples
    --------
    >>> import pyarrow as pa
    >>> left = pa.table({"time": [0, 1], "ad": [7, 8]})
    >>> right = pa.table({"time": [1, 3], "shop": ["x", "x"]})
    >>> offers = pa.table({"ad": [7, 8], "shop": ["x", "y"]})
    >>> on = (("ad", "ad"), ("shop", "shop"))
    >>> archive = StarArchive(left, right, offers, on, within=2)
    >>> archive.time, archive.within
    ('time', 2)
    """

    left: Rows
    right: Rows
    relation: Rows
    on: On
    within: Within | Duration | int
    time: str | Pair = "time"
    importance: str | Pair | None = None
    valid: Pair | None = None
    shard: str | Pair | None = None
