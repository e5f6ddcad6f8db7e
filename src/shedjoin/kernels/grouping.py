"""Sorts matches by the segment of the resident, so that rows are read by segment."""

from __future__ import annotations

from typing import NamedTuple

from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.kernels.places import arrival_at, is_arrival
from shedjoin.types import IntArray, IntGrid


class Segments(NamedTuple):
    """Group of each segment, from the segment with the number ``first`` on.

    A place is one integer: its lowest ``row_bits`` bits are the row, and the bits above
    are the number of the segment.
    """

    group: IntArray
    first: int
    row_bits: int


class Grouped(NamedTuple):
    """Matches by group: index of the match, row of the arrival, row of the resident.

    ``end`` has the end of each group, by stream of the arrival and group.
    """

    match: IntArray
    own: IntArray
    theirs: IntArray
    end: IntGrid


@inline_kernel
def group_of(place: int, segments: Segments) -> int:
    """Group of a place; 0 for arrivals of the same part, which have no segment yet."""
    if is_arrival(place):
        return 0
    return int(segments.group[(place >> segments.row_bits) - segments.first])


@kernel_no_refcount
def group_matches(
    arrival: IntArray,
    place: IntArray,
    stream: IntArray,
    origin: IntArray,
    segments: Segments,
    into: Grouped,
) -> None:
    """Sort matches by stream of the arrival and segment of the resident.

    Matches of one group keep their order. ``stream`` and ``origin``, the row of an
    arrival in its stream, are given for all arrivals.
    """
    end = into.end
    end[:] = 0
    for each in range(arrival.size):
        end[stream[arrival[each]], group_of(place[each], segments)] += 1
    total = 0
    for own in range(end.shape[0]):
        for group in range(end.shape[1]):
            total += end[own, group]
            end[own, group] = total - end[own, group]
    mask = (1 << segments.row_bits) - 1
    for each in range(arrival.size):
        row, where = arrival[each], place[each]
        own, group = stream[row], group_of(where, segments)
        at = end[own, group]
        end[own, group] = at + 1
        into.match[at] = each
        into.own[at] = origin[row]
        if is_arrival(where):
            into.theirs[at] = origin[arrival_at(where)]
        else:
            into.theirs[at] = where & mask
