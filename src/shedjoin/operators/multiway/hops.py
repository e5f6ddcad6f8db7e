"""Finds the matches of arrivals: probes the residents of one stream after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Chunk
from shedjoin.columns.bounds import Bounds
from shedjoin.kernels.ranges import PLACE, TIME, Pairs, meet
from shedjoin.operators.frame.results import gather_results, room_for
from shedjoin.operators.multiway.checks import Checks
from shedjoin.operators.multiway.lags import Looks, everything
from shedjoin.operators.multiway.partial import Met, Partial
from shedjoin.operators.multiway.store import MultiwayStore
from shedjoin.operators.multiway.tally import Found, Looked, Tally
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import IntArray, IntGrid


class Group(NamedTuple):
    """Arrivals of a chunk that are compared with the same residents.

    ``rows`` are their positions in the chunk; None means all. If the arrivals are
    shredded, ``tally`` counts what they find.
    """

    rows: IntArray | None
    looks: Looks
    tally: Tally | None = None


def taken_in(store: MultiwayStore, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """Join arrivals with residents of all other streams, then store the arrivals."""
    looks = everything(store.spec, chunk.stream, hop_order(store, chunk.stream))
    yield from Hops(store, chunk).joined([Group(None, looks)])
    store.insert(chunk.stream, chunk.rows, chunk.hot)


class Hops:
    """Joins one chunk of arrivals with the other streams, hop by hop.

    Parameters
    ----------
    store : MultiwayStore
        The residents.
    chunk : Chunk
        The arrivals.
    columns : array, optional
        Columns of the arrivals in their layout, if they were computed before.
    noted : callable, optional
        Called with all results before their joined rows are built.
    """

    def __init__(
        self,
        store: MultiwayStore,
        chunk: Chunk,
        columns: IntGrid | None = None,
        noted: Callable[[Met], None] | None = None,
    ) -> None:
        self._store = store
        self._chunk = chunk
        self._columns = columns
        self._noted = noted
        self.looked = 0

    def joined(self, groups: Iterable[Group]) -> Iterator[pa.RecordBatch]:
        """Join arrivals with the residents of all other streams, in batches."""
        store, chunk = self._store, self._chunk
        others = [stream for stream in store.streams if stream != chunk.stream]
        if any(store.is_empty(other) for other in others):
            return
        room = room_for(chunk, (store.segments(other) for other in others))
        layout = store.layouts[chunk.stream]
        columns = self._columns
        if columns is None:
            place = np.arange(chunk.rows.num_rows)
            columns = layout.columns(chunk.rows, chunk.hot, place)
        start = Partial.of(store.spec, chunk.stream, columns, layout)
        for group in groups:
            some = start if group.rows is None else start.take(group.rows)
            if some.arrival.size:
                probe = _Probe(store, chunk, room, group)
                for found in probe.matches(some, group.looks.order):
                    if self._noted:
                        self._noted(found)
                    yield from gather_results(store, chunk, found.arrival, found.places)
                self.looked += probe.looked


def hop_order(store: MultiwayStore, arriving: int) -> list[int]:
    """Order in which to probe the other streams, so that there are few partial results.

    The next stream is one that a key or term connects with earlier streams, if there is
    any. If there are several, the stream with the fewest residents is next. If the
    numbers of residents are equal, the stream with the shortest retention is next.
    """
    bound, order = {arriving}, []
    left = set(store.streams) - bound
    while left:
        stream = min(
            left,
            key=lambda s: (
                not _is_related(store.spec, s, bound),
                store.residents(s),
                store.spec.keeps_us[s],
                s,
            ),
        )
        order.append(stream)
        bound |= {stream}
        left -= {stream}
    return order


def _is_related(spec: JoinSpec, stream: int, bound: set[int]) -> bool:
    """Whether a key or term, not only the window, restricts matches of a stream."""
    by_key = bool(spec.streams[stream].keys)
    terms = (set(term.streams) for term in spec.terms)
    return by_key or any(stream in own and own & bound for own in terms)


class _Probe:
    """Finds the matches of one group of arrivals.

    Parameters
    ----------
    store : MultiwayStore
        The residents.
    chunk : Chunk
        The arrivals.
    room : int
        Number of matches that a hop may find before they are passed to the next hop.
    group : Group
        The arrivals, the residents to compare them with, and the tally, if any.
    """

    def __init__(
        self, store: MultiwayStore, chunk: Chunk, room: int, group: Group
    ) -> None:
        self._store = store
        self._room = room
        self._stream = chunk.stream
        self._time = chunk.hot.time
        self._checks = Checks(store, chunk)
        self._lags, self._tally = group.looks.lags, group.tally
        self.looked = 0

    def matches(self, partial: Partial, others: Sequence[int]) -> Iterator[Met]:
        """Yield arrivals with residents of all streams, about ``room`` at a time.

        The search is depth first: the matches that one hop has found pass through all
        later hops before this hop searches for more.
        """
        stream, *rest = others
        spec, layout = self._store.spec, self._store.layouts[stream]
        for at, found in self._hop(partial, stream, whole=bool(rest)):
            met: Partial | Met
            if rest:
                more = partial.extended(at, stream, found, spec, layout)
                met, which = self._checks.passed(more, stream)
            else:
                last = partial.completed(at, stream, found[0])
                met, which = self._checks.passed(last, stream)
            if self._tally:
                time = found[TIME if rest else 1, which]
                lag = self._time[met.arrival] - time
                found_at = Found(lag, met.arrival)
                self._tally.met(self._stream, stream, found_at, complete=not rest)
            if not met.arrival.size:
                continue
            if isinstance(met, Partial):
                yield from self.matches(met, rest)
            else:
                yield met

    def _hop(
        self, partial: Partial, stream: int, *, whole: bool
    ) -> Iterator[tuple[IntArray, IntGrid]]:
        """Yield matches: indices of partial results, and columns of residents.

        If ``whole`` is true, all columns of a resident are yielded. Otherwise, only its
        place is yielded, and if there is a tally, also its time.
        """
        wanted = slice(None) if whole else slice(PLACE, TIME + bool(self._tally))
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
        """Yield matches tier by tier: partial results, rows of the tier, and the tier.

        Partial results are sorted by the times of their arrivals. So a basic window is
        searched only for those partial results whose lags reach the window. In a tier,
        partial results are looked up in the order of key and lead. So each search
        starts at the first row that the search before has found.
        """
        windows, layout = self._store.windows[stream], self._store.layouts[stream]
        order = np.argsort(self._time[partial.arrival], kind="stable")
        partial = partial.take(order)
        time = self._time[partial.arrival]
        if self._tally:
            self._tally.began(self._stream, stream, time.size)
        pairs = Pairs.room(self._room)
        for least, most in self._lags[stream]:
            times = Bounds(time - most, time - least)
            asked = partial.asked(self._store.spec, stream, layout, times)
            by_lead = np.lexsort((asked.first, asked.key))
            for window in windows.between(time[0] - most, time[-1] - least):
                first, last = windows.start_us(window), windows.end_us(window)
                start = int(np.searchsorted(time, first + least))
                end = int(np.searchsorted(time, last + most, side="right"))
                self.looked += Tally.opening * (end - start)
                if self._tally:
                    self._tally.opened(self._stream, stream, time, (first, last))
                some = by_lead[(by_lead >= start) & (by_lead < end)]
                for tier in windows.tiers[window]:
                    if self._tally:
                        looked = Looked(asked, tier.columns, start, end, time)
                        self._tally.looked(self._stream, stream, looked)
                    at, row = 0, 0
                    while at < some.size:
                        found, at, row, looked_at = meet(
                            asked, tier.columns, some, at, row, pairs
                        )
                        self.looked += looked_at
                        if found:
                            yield (
                                order[pairs.partial[:found]],
                                pairs.row[:found],
                                tier.columns,
                            )
