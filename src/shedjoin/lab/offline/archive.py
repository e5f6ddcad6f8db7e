"""Finds all matches of two archived streams."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shedjoin.columns.placing import between
from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.lab.offline.graph import MatchGraph


class Archive(NamedTuple):
    """Key and time of each row of an archived stream.

    Examples
    --------
    >>> Archive(key=["a", "b", "a"], time=[0, 1, 5]).time
    [0, 1, 5]
    """

    key: npt.ArrayLike
    time: npt.ArrayLike


def archived_matches(
    left: Archive, right: Archive, *, before: float = 0, after: float = 0
) -> MatchGraph:
    """All matches of two archived streams, as a graph.

    Parameters
    ----------
    left, right : Archive
        The streams, with rows in any order. Times and window are in the same unit.
    before, after : float, default 0
        A right row matches a left row if it is at most ``before`` earlier and at most
        ``after`` later, as in ``Within``.

    Returns
    -------
    MatchGraph
        Rows are numbered by their position in the archive.

    Notes
    -----
    *Source.* Definitions 2 and 3 of [1]_.

    *Symbols.* ``after`` is T_1, the window of the left stream; ``before`` is T_2.

    *Cost.* O(n log n + m) for n rows and m matches; all matches are held in memory.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> left, right = Archive(["a", "b", "a"], [0, 1, 5]), Archive(["a", "a"], [2, 6])
    >>> graph = archived_matches(left, right, before=3, after=2)
    >>> [rows.tolist() for rows in graph.ends]
    [[0, 2, 2], [0, 0, 1]]
    """
    left_key, left_time = _columns("left", left)
    right_key, right_time = _columns("right", right)
    _same_kind(left_key, right_key)
    _, code = np.unique(
        np.concatenate((left_key, right_key)), return_inverse=True, equal_nan=False
    )
    instants, instant = np.unique(right_time, return_inverse=True)
    own, other = code[: left_key.size], code[left_key.size :]
    step = instants.size + 1  # places of one key come before those of the next
    order = np.argsort(other * step + instant, kind="stable")
    places = (other * step + instant)[order]
    if left_time.dtype.kind == "i":  # large times would be rounded as floats
        before, after = (
            int(reach) if float(reach).is_integer() else reach
            for reach in (before, after)
        )
    first = np.searchsorted(instants, left_time - before)
    behind = np.searchsorted(instants, left_time + after, side="right")
    low = np.searchsorted(places, own * step + first)
    high = np.searchsorted(places, own * step + behind)
    row, place = between(low, np.maximum(high, low) - 1)
    return MatchGraph(row, order[place])


def _columns(name: str, stream: Archive) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    key, time = np.asarray(stream.key), np.asarray(stream.time)
    if key.ndim != 1 or key.shape != time.shape:
        raise ParameterError(
            f"{name} has keys of shape {key.shape} and times of shape {time.shape}.",
            fix="pass one key and one time for each row.",
        )
    if time.dtype.kind == "u":
        time = time.astype(np.int64)  # a difference of unsigned numbers wraps
    return key, time


def _same_kind(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> None:
    kinds = {
        "number" if key.dtype.kind in "iuf" else key.dtype.kind
        for key in (left, right)
        if key.size
    }
    rounded = (
        left.dtype.kind + right.dtype.kind in ("iu", "ui")
        and np.result_type(left, right).kind == "f"
    )
    if len(kinds) > 1 or (rounded and left.size and right.size):
        raise ColumnTypeError(
            f"Keys of type {left.dtype} cannot equal keys of type {right.dtype}.",
            fix="pass keys of one type, e.g. left.key.astype(right.key.dtype).",
        )
