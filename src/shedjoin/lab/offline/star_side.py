"""Prepares one of two archived streams for the search for the best memory states."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from shedjoin.lab.offline.star_columns import NEVER, Star
from shedjoin.lab.offline.star_matches import Matches, active_facts
from shedjoin.spec.shedding import Discipline
from shedjoin.types import IntArray

Prefilter = Literal["matches", "relation", "none"]
"""How long a row may be held: until its last match (``matches``), until all relation
rows have ended that were valid when it came (``relation``), or until it expires
(``none``)."""


class StarSide(NamedTuple):
    """Rows that may be held in memory. At step i, the i-th of them comes.

    Parameters
    ----------
    row : array of int
        Number of each row in the table of the stream.
    come, gone : array of int
        Instants at which each row comes, and at which it is dropped at the latest.
    leave : array of int
        The first step at which the row cannot be held any more.
    match : array of int
        Matches with rows of the other stream that came later, sorted by row, then by
        step.
    match_row : array of int
        The row of each match, as a step.
    match_step : array of int
        The step after which the row must be held for the match to be found.
    """

    row: IntArray
    come: IntArray
    gone: IntArray
    leave: IntArray
    match: IntArray
    match_row: IntArray
    match_step: IntArray


def star_side(
    star: Star,
    matches: Matches,
    side: int,
    prefilter: Prefilter,
    discipline: Discipline,
) -> StarSide:
    """Rows of one stream, with their matches, and the steps of both."""
    probes_first = discipline in {"probe_then_insert", "probe_then_shed"}
    match = matches.first(side)
    owner, found = matches.rows[side][match], matches.instants[1 - side][match]
    time = (star.left, star.right)[side].time
    come = np.searchsorted(matches.times, time)
    if prefilter == "matches":
        gone = np.full(time.size, -1)
        np.maximum.at(gone, owner, found if probes_first else found + 1)
    else:
        gone = _expiry(star, matches.times, side)
        if prefilter == "relation":
            gone = np.minimum(gone, _last_end(star, matches.times, side))
    row = np.flatnonzero(gone > come)
    row = row[np.argsort(come[row], kind="stable")]
    step = np.empty(time.size, np.int64)
    step[row] = np.arange(row.size)
    match_step = (
        np.searchsorted(come[row], found, side="left" if probes_first else "right") - 1
    )
    order = np.lexsort((match_step, step[owner]))
    return StarSide(
        row=row,
        come=come[row],
        gone=gone[row],
        leave=np.searchsorted(come[row], gone[row]),
        match=match[order],
        match_row=step[owner[order]],
        match_step=match_step[order],
    )


def _expiry(star: Star, times: IntArray, side: int) -> IntArray:
    """First instant at which a row is out of the window."""
    stream, reach = ((star.left, star.after), (star.right, star.before))[side]
    return np.searchsorted(times, stream.time + reach, side="right")


def _last_end(star: Star, times: IntArray, side: int) -> IntArray:
    """First instant at which all relation rows have ended that were valid for a row.

    These are the relation rows that were valid when the row came. If there was none,
    the instant is before the row came.
    """
    stream, facts = (star.left, star.right)[side], star.facts
    row, fact = active_facts(stream, (facts.left, facts.right)[side], facts)
    last = np.full(stream.time.size, -NEVER)
    np.maximum.at(last, row, facts.end[fact])
    return np.searchsorted(times, last)
