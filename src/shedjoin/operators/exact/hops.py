"""Finds the matches of arrivals: probes the residents of one stream after another.

A partial result consists of an arrival and residents of some of the other streams. Its
``latest`` is the latest time of its rows. Its ``until`` is the time until which all of
its rows are kept. A resident of stream j with the same key and with time t matches a
partial result if and only if ::

    latest - keep[j] <= t <= until

A *hop* extends partial results by residents of one more stream. A join of two streams
has only one hop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from shedjoin.columns.hot import Hot
from shedjoin.operators.exact.ring import Ring, probed
from shedjoin.operators.exact.store import WindowStore
from shedjoin.types import IntArray


class Partial(NamedTuple):
    """Partial results: positions of arrivals, and slots of residents by stream."""

    key: IntArray
    latest: IntArray
    until: IntArray
    arrival: IntArray
    slots: dict[int, IntArray]

    @staticmethod
    def of(arrivals: Hot, keep_us: int) -> Partial:
        """Partial results that consist of arrivals alone."""
        rows = np.arange(arrivals.key.size)
        return Partial(arrivals.key, arrivals.time, arrivals.time + keep_us, rows, {})

    def extended(
        self, at: IntArray, stream: int, slot: IntArray, ring: Ring, keep_us: int
    ) -> Partial:
        """Extend the partial results ``at`` with the residents ``slot`` of a stream."""
        time = ring.times(slot)
        return Partial(
            self.key[at],
            np.maximum(self.latest[at], time),
            np.minimum(self.until[at], time + keep_us),
            self.arrival[at],
            {other: slots[at] for other, slots in self.slots.items()} | {stream: slot},
        )


def matches(
    store: WindowStore, partial: Partial, others: Sequence[int], room: int
) -> Iterator[tuple[IntArray, dict[int, IntArray]]]:
    """Yield matches: positions of arrivals, and slots of residents by stream.

    About ``room`` matches are yielded at a time. The search is depth first: the matches
    that one hop has found pass through all later hops before this hop searches for
    more. Yielded arrays are valid only until the next arrays are requested.
    """
    stream, *rest = others
    keep_us = store.spec.keeps_us[stream]
    for at, slot in _hop(store, partial, stream, room, in_order=bool(rest)):
        if rest:
            found = partial.extended(at, stream, slot, store.rings[stream], keep_us)
            yield from matches(store, found, rest, room)
        else:
            slots = {other: own[at] for other, own in partial.slots.items()}
            yield partial.arrival[at], slots | {stream: slot}


def _hop(
    store: WindowStore, partial: Partial, stream: int, room: int, *, in_order: bool
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield pairs of a partial result and a matching slot of a stream."""
    ring, keep_us = store.rings[stream], store.spec.keeps_us[stream]
    limits = partial.key, partial.latest - keep_us, partial.until
    for at, slot, steps in probed(ring, *limits, room, in_order=in_order):
        store.longest_chain = max(store.longest_chain, steps)
        yield at, slot
