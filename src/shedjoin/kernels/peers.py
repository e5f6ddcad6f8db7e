"""Peers: arrivals of one instant, which match each other whether stored or not."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.jit import inline_kernel
from shedjoin.kernels.matching import EMIT, look_at, looks_of, worth
from shedjoin.kernels.partners import first_at
from shedjoin.kernels.round import Arriving, Found, Peers, Row, Rules, put_match
from shedjoin.kernels.slots import Table, is_there, note_match
from shedjoin.types import IntArray


def peers_of(stream: IntArray, key: IntArray, time: IntArray) -> Peers:
    """Sort arrivals within their instants; the input is in the order of time.

    >>> import numpy as np
    >>> peers = peers_of(*(np.array(a) for a in ([1, 0, 1], [5, 4, 3], [0, 0, 7])))
    >>> peers.at.tolist(), peers.first.tolist(), peers.end.tolist()
    ([1, 0, 2], [0, 0, 2], [2, 2, 3])
    """
    at = np.lexsort((key, stream, time))
    first = np.searchsorted(time, time)
    end = np.searchsorted(time, time, side="right")
    return Peers(first, end, stream[at], key[at], at)


@inline_kernel
def count_peer(at: int, row: Row, rules: Rules, table: Table, out: Found) -> None:
    """Count a match for an earlier arrival of the instant, unless it was shed."""
    if rules.sheds_last:
        out.hits[at] += 1
        return
    place = at - out.cursor[0]["row"]
    if place >= 0:
        slot, number = out.instant_slots[place], row.number - row.at + at
        if slot >= 0 and is_there(slot, number, table):
            note_match(slot, row.time, rules.decay, table)


@inline_kernel
def meet_instant(
    row: Row, how: int, rules: Rules, arriving: Arriving, table: Table, out: Found
) -> int:
    """Match an arrival with earlier arrivals of its instant; return how many match.

    It does not matter whether the earlier arrivals are still stored.
    """
    peers, found = arriving.peers, 0
    end = peers.end[row.at]
    for each in range(looks_of(row, rules, arriving.looks)):
        look = look_at(row, each, rules, arriving.looks)
        if not look.low <= row.time <= look.high:
            continue
        start = peers.first[row.at]
        place = first_at(look.stream, look.key, start, end, peers.stream, peers.key)
        while place < end and peers.at[place] < row.at:
            if peers.stream[place] != look.stream or peers.key[place] != look.key:
                break
            before = peers.at[place]
            found += 1
            if how & EMIT:
                theirs = arriving.importance[before]
                value = worth(row.importance, theirs, rules.combine)
                number = arriving.first_number + before
                at = put_match(row.at, arriving.place[before], number, value, out)
                out.matches[at]["look"] = each
                out.sums[0]["gained"] += value
                count_peer(before, row, rules, table, out)
            place += 1
    return found
