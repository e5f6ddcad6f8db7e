"""Compares an approximate result with the exact one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shedjoin.errors import ParameterError
from shedjoin.lab.quality.fairness import jain
from shedjoin.types import IntArray

Rows: TypeAlias = pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray
"""Result rows, or one column that identifies them, such as a row number."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Recall, importance and other measures of an approximate join.

    Parameters
    ----------
    recall : float
        Share of the exact rows that were found. It is 1 if there are no exact rows.
    importance : float
        Importance of the rows that were found.
    importance_share : float
        ``importance`` divided by the importance of all exact rows. It is 1 if that is
        0.
    outputs : int
        Number of rows that the approximate join returned.
    extra : int
        Number of these rows that are not in the exact result, or not as often.
    fairness : float, optional
        Jain's index of the lifetimes of all arrivals.
    sheds : mapping of str to int
        Tuples shed, by reason.
    recomputations : int
        Number of times that priorities were recomputed.

    Examples
    --------
    >>> Quality(recall=0.5, importance=3.0, importance_share=0.75, outputs=2).is_subset
    True
    """

    recall: float
    importance: float
    importance_share: float
    outputs: int
    extra: int = 0
    fairness: float | None = None
    sheds: Mapping[str, int] = field(default_factory=dict)
    recomputations: int = 0

    @property
    def is_subset(self) -> bool:
        """Whether every returned row is in the exact result, at least as often."""
        return self.extra == 0


def compare(
    approximate: Rows,
    exact: Rows,
    *,
    importance: str | None = None,
    lifetimes: npt.ArrayLike | None = None,
    sheds: Mapping[str, int] | None = None,
    recomputations: int = 0,
) -> Quality:
    """Compare the rows of an approximate join with those of the exact one.

    Parameters
    ----------
    approximate, exact : Table, RecordBatch, Array or ChunkedArray
        Result rows in any order. A row that occurs twice counts twice. Nulls are equal.
    importance : str, optional
        Column with the importance of a result. Without it, every result has importance
        1.
    lifetimes : array_like, optional
        How long each arrival was kept in memory (see ``jain``).
    sheds : mapping of str to int, optional
        Tuples shed, by reason.
    recomputations : int, default 0
        Number of times that priorities were recomputed.

    Returns
    -------
    Quality
        Recall, importance and the other measures.

    Notes
    -----
    Nested columns are compared as text.

    Examples
    --------
    >>> exact = pa.table({"k": [1, 1, 2, 3], "worth": [5, 5, 2, 8]})
    >>> found = compare(exact.slice(0, 3), exact, importance="worth")
    >>> found.recall, found.importance, found.importance_share, found.is_subset
    (0.75, 12.0, 0.6, True)
    """
    wanted = _table(exact)
    found = _like(_table(approximate), wanted)
    worth = _worth(wanted, importance)
    kind = _kinds(found, wanted)
    n_kinds = int(kind.max(initial=-1)) + 1
    found_kind, wanted_kind = kind[: found.num_rows], kind[found.num_rows :]
    had = np.bincount(wanted_kind, minlength=n_kinds)
    common = np.minimum(np.bincount(found_kind, minlength=n_kinds), had)
    worth_of = np.zeros(n_kinds)
    worth_of[wanted_kind] = worth
    n_common = int(common.sum())
    gained, whole = float(common @ worth_of), float(had @ worth_of)
    return Quality(
        recall=n_common / wanted.num_rows if wanted.num_rows else 1.0,
        importance=gained,
        importance_share=gained / whole if whole > 0 else 1.0,
        outputs=found.num_rows,
        extra=found.num_rows - n_common,
        fairness=None if lifetimes is None else jain(lifetimes),
        sheds=dict(sheds or {}),
        recomputations=recomputations,
    )


def _table(rows: Rows) -> pa.Table:
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if isinstance(rows, pa.Array | pa.ChunkedArray):
        return pa.table({"row": rows})
    if not isinstance(rows, pa.Table) or not rows.num_columns:
        raise ParameterError(
            f"{type(rows).__name__} holds no result rows.",
            fix="pass a pyarrow Table, RecordBatch or Array with a column at least.",
        )
    return rows


def _like(found: pa.Table, wanted: pa.Table) -> pa.Table:
    """Columns of ``found`` in the order and with the types of ``wanted``."""
    names, types = wanted.column_names, wanted.schema.types
    if found.column_names != names and sorted(found.column_names) == sorted(set(names)):
        found = found.select(names)
    if found.column_names == names:
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            columns = [
                column.cast(kind)
                for column, kind in zip(found.columns, types, strict=True)
            ]
            return pa.table(columns, names=names)
    raise ParameterError(
        f"The results have different columns: {_shown(found)} and {_shown(wanted)}.",
        fix="pass results of the same join, with the same column names and types.",
    )


def _shown(table: pa.Table) -> str:
    return ", ".join(f"{column.name} {column.type}" for column in table.schema)


def _worth(wanted: pa.Table, importance: str | None) -> npt.NDArray[np.float64]:
    if importance is None:
        return np.ones(wanted.num_rows)
    if wanted.column_names.count(importance) != 1:
        raise ParameterError(
            f"importance={importance!r} does not name one column.",
            fix=f"pass one of {sorted(set(wanted.column_names))}.",
        )
    column = wanted.column(importance)
    worth = np.full(wanted.num_rows, np.nan)
    with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
        worth = column.cast(pa.float64(), safe=False).to_numpy()
    if not (np.isfinite(worth) & (worth >= 0)).all():
        raise ParameterError(
            f"Column {importance!r} is not all finite numbers from 0 up.",
            fix="give each result an importance of 0 or more.",
        )
    return worth


def _kinds(found: pa.Table, wanted: pa.Table) -> IntArray:
    """Number of each row of both tables; equal rows have equal numbers."""
    both = pa.concat_tables([found, wanted])
    kind = np.zeros(both.num_rows, dtype=np.int64)
    for column in both.columns:
        codes = _codes(column)
        pair = kind * (codes.max(initial=0) + 1) + codes
        kind = np.unique(pair, return_inverse=True)[1].astype(np.int64)
    return kind


def _codes(column: pa.ChunkedArray) -> IntArray:
    if pa.types.is_nested(column.type):
        texts = [repr(value) for value in column.to_pylist()]
        column = pa.chunked_array([texts], pa.string())
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    codes = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(codes.indices).astype(np.int64)
