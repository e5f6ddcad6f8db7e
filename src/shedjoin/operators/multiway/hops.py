"""From arrivals to matches: probing the residents of one stream after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Chunk
from shedjoin.kernels.ranges import PLACE, Pairs, meet
from shedjoin.operators.frame.results import gather_results, room_for
from shedjoin.operators.multiway.checks import Checks
from shedjoin.operators.multiway.partial import Met, Partial
from shedjoin.operators.multiway.store import MultiwayStore
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import IntArray, IntGrid


def joined_rows(store: MultiwayStore, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """Join arrivals with the residents of all other streams, in batches."""
    others = [stream for stream in store.streams if stream != chunk.stream]
    if any(store.is_empty(other) for other in others):
        return
    room = room_for(chunk, (store.segments(other) for other in others))
    layout = store.layouts[chunk.stream]
    place = np.arange(chunk.rows.num_rows)
    columns = layout.columns(chunk.rows, chunk.hot, place)
    start = Partial.of(store.spec, chunk.stream, columns, layout)
    for found in _Probe(store, chunk, room).matches(start, _hop_order(store, chunk)):
        yield from gather_results(store, chunk, found.arrival, found.places)


def _hop_order(store: MultiwayStore, chunk: Chunk) -> list[int]:
    """In which order to probe the other streams.

    Those that some term relates to the streams before go first, and of them the one
    with the fewest residents: they leave the fewest partial results.
    """
    bound, order = {chunk.stream}, []
    left = set(store.streams) - bound
    while left:
        stream = min(
            left,
            key=lambda s: (
                not _is_related(store.spec, s, bound),
                store.residents(s),
                s,
            ),
        )
        order.append(stream)
        bound |= {stream}
        left -= {stream}
    return order


def _is_related(spec: JoinSpec, stream: int, bound: set[int]) -> bool:
    """Whether more than the window decides which residents of a stream fit."""
    by_key = bool(spec.streams[stream].keys)
    terms = (set(term.streams) for term in spec.terms)
    return by_key or any(stream in own and own & bound for own in terms)


class _Probe:
    """The probing of one chunk of arrivals.

    Parameters
    ----------
    store : MultiwayStore
        The residents.
    chunk : Chunk
        The arrivals.
    room : int
        How many partial results a hop may find before they go on.
    """

    def __init__(self, store: MultiwayStore, chunk: Chunk, room: int) -> None:
        self._store = store
        self._room = room
        self._stream = chunk.stream
        self._checks = Checks(store, chunk)

    def matches(self, partial: Partial, others: Sequence[int]) -> Iterator[Met]:
        """Arrivals with residents of all streams, about as many at once as is room.

        They are found depth first: what a hop finds goes through the others before it
        finds more.
        """
        stream, *rest = others
        spec, layout = self._store.spec, self._store.layouts[stream]
        for at, found in self._hop(partial, stream, places_only=not rest):
            if rest:
                more = partial.extended(at, stream, found, spec, layout)
                more = self._checks.passed(more, stream)
                if more.arrival.size:
                    yield from self.matches(more, rest)
            else:
                met = partial.completed(at, stream, found[0])
                met = self._checks.passed(met, stream)
                if met.arrival.size:
                    yield met

    def _hop(
        self, partial: Partial, stream: int, *, places_only: bool
    ) -> Iterator[tuple[IntArray, IntGrid]]:
        """Which of the partial results met whom, with the columns of the residents."""
        wanted = slice(PLACE, PLACE + 1) if places_only else slice(None)
        met: list[IntArray] = []
        columns: list[IntGrid] = []
        count = 0
        for at, row, tier in self._meetings(partial, stream):
            start = 0
            while start < at.size:
                part = slice(start, start + self._room - count)
                met.append(at[part])
                columns.append(tier[wanted, row[part]])
                start += met[-1].size
                count += met[-1].size
                if count == self._room:
                    yield np.concatenate(met), np.concatenate(columns, axis=1)
                    met, columns, count = [], [], 0
        if count:
            yield np.concatenate(met), np.concatenate(columns, axis=1)

    def _meetings(
        self, partial: Partial, stream: int
    ) -> Iterator[tuple[IntArray, IntArray, IntGrid]]:
        """Which of the partial results met which rows of a tier, tier by tier.

        Partial results are taken by time, so that a basic window is looked into by
        those alone whose window reaches it.
        """
        spec, windows = self._store.spec, self._store.windows[stream]
        order = np.argsort(partial.latest, kind="stable")
        latest = partial.latest[order]
        asked = partial.take(order).asked(spec, stream, self._store.layouts[stream])
        keep_us, reach_us = spec.keeps_us[stream], spec.window_us
        pairs = Pairs.room(self._room)
        for window in windows.between(latest[0] - keep_us, latest[-1] + reach_us):
            first, last = windows.start_us(window), windows.end_us(window)
            start = int(np.searchsorted(latest, first - reach_us))
            end = int(np.searchsorted(latest, last + keep_us, side="right"))
            for tier in windows.tiers[window]:
                at, row = start, 0
                while at < end:
                    found, at, row = meet(asked, tier.columns, at, end, row, pairs)
                    if found:
                        yield (
                            order[pairs.partial[:found]],
                            pairs.row[:found],
                            tier.columns,
                        )
