"""Archives of two streams that a relation joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from shedjoin.spec.window import Duration, Within

Pair: TypeAlias = tuple[str, str]
On: TypeAlias = str | Pair | tuple[Pair, Pair]
Rows: TypeAlias = Any
"""A pyarrow table, which has no types, a Spark DataFrame, or None if allowed."""


@dataclass(frozen=True, slots=True, eq=False)
class StarArchive:
    """Two archived streams and the relation through which they join [1]_.

    A left row matches a right row within the window if a row of the relation has the
    keys of both and was active at both of their times.

    Parameters
    ----------
    left, right : pyarrow.Table or Spark DataFrame
        The streams, with rows in any order. Rows with a null key match nothing.
    relation : pyarrow.Table, Spark DataFrame or None
        The relation; None joins rows whose keys are equal.
    on : tuple
        Key of the left stream and the column of the relation that it equals, then those
        of the right stream: ``(("a", "a"), ("b", "b"))``. Without a relation, the key
        of both streams, or of each of them: ``"key"`` or ``("a", "b")``.
    within : Within, str, timedelta or int
        How far apart rows that match may be, both ends included. Pass a number if times
        are whole numbers.
    time : str or pair of str, default "time"
        Column of the time in both streams, or in each: timestamps, or whole numbers.
    importance : str or pair of str, optional
        Column of the importance; without it, every row has importance 1. A match has
        the lesser importance of its two rows.
    valid : pair of str, optional
        Columns of the relation with the start (inclusive) and the end (exclusive) of a
        row's validity. A null is no bound. Without it all rows are always active.
    shard : str or pair of str, optional
        Column of both streams with the shard of a row. Rows of different shards do not
        meet, and each shard has a memory of its own.

    Notes
    -----
    *Source.* Sections 2.1 and 2.2 of [1]_, formulas (3), (4) and (6).

    *Symbols.* ``left`` and ``right`` are R and S, ``relation`` F, ``valid`` [begin,
    end). The window of m instants is ``within=m - 1``.

    *Departures.* A stream may have any number of rows at an instant. Formula (3) taken
    literally counts matches of one instant twice; here they count once. As F has no
    duplicates, rows of the relation with the same keys must not be active together.

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
