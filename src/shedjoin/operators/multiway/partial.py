"""Partial results: an arrival, and residents of some of the other streams.

The ``latest`` of a partial result is the latest time of its rows, and its ``until`` is
the time until which all of its rows are kept. For every term, a partial result also has
the range of order codes that further rows may have. A resident of stream j with the
same key and with time t matches a partial result if ::

    latest - keep[j] <= t <= until

and if its values are in the ranges of the terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shedjoin.columns.bounds import Bounds, bounds_of
from shedjoin.kernels.ranges import KEY, LEAD, PLACE, TIME, Asked
from shedjoin.operators.multiway.layout import Layout
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.terms import BandTerm, Term, compared
from shedjoin.types import IntArray, IntGrid


class Met(NamedTuple):
    """Matches: indices of arrivals, and places of residents by stream."""

    arrival: IntArray
    places: dict[int, IntArray]

    def take(self, at: IntArray) -> Met:
        """Select some of the matches."""
        places = {stream: place[at] for stream, place in self.places.items()}
        return Met(self.arrival[at], places)


class Partial(NamedTuple):
    """Partial results: indices of arrivals, and places of residents by stream.

    ``bounds`` holds the ranges of codes that further rows may have, by the number of
    the term.
    """

    key: IntArray
    latest: IntArray
    until: IntArray
    arrival: IntArray
    places: dict[int, IntArray]
    bounds: dict[int, Bounds]

    @staticmethod
    def of(spec: JoinSpec, stream: int, columns: IntGrid, layout: Layout) -> Partial:
        """Partial results that consist of arrivals alone."""
        time = columns[TIME]
        return Partial(
            columns[KEY],
            time,
            time + spec.keeps_us[stream],
            np.arange(time.size),
            {},
            _bounds(spec.terms, stream, columns, layout),
        )

    def completed(self, at: IntArray, stream: int, place: IntArray) -> Met:
        """Complete the partial results ``at`` with residents of the last stream."""
        met = Met(self.arrival, self.places).take(at)
        return Met(met.arrival, met.places | {stream: place})

    def take(self, at: IntArray) -> Partial:
        """Select some of the partial results."""
        return Partial(
            self.key[at],
            self.latest[at],
            self.until[at],
            self.arrival[at],
            {stream: place[at] for stream, place in self.places.items()},
            {term: bounds.take(at) for term, bounds in self.bounds.items()},
        )

    def extended(
        self, at: IntArray, stream: int, found: IntGrid, spec: JoinSpec, layout: Layout
    ) -> Partial:
        """Extend the partial results ``at`` with residents of one more stream."""
        one, time = self.take(at), found[TIME]
        bounds = one.bounds.copy()
        for term, new in _bounds(spec.terms, stream, found, layout).items():
            is_band = isinstance(spec.terms[term], BandTerm)
            bounds[term] = new.within(bounds[term]) if is_band else new
        return one._replace(
            latest=np.maximum(one.latest, time),
            until=np.minimum(one.until, time + spec.keeps_us[stream]),
            places=one.places | {stream: found[PLACE]},
            bounds=bounds,
        )

    def asked(
        self, spec: JoinSpec, stream: int, layout: Layout, times: Bounds
    ) -> Asked:
        """Conditions for residents of a stream; ``times`` restricts their times."""
        window = Bounds(self.latest - spec.keeps_us[stream], self.until).within(times)
        ranges = [(LEAD if layout.lead is None else TIME, window)]
        for number, _, column in compared(spec.terms, stream):
            if number in self.bounds:
                ranges.append((layout.place_of(column), self.bounds[number]))
        size, ends = self.key.size, np.iinfo(np.int64)
        lead = Bounds(np.full(size, ends.min), np.full(size, ends.max))
        others = []
        for place, bounds in ranges:
            if place == LEAD and bounds.inside:
                lead = lead.within(bounds)
            else:
                others.append((place, bounds))
        return Asked(
            self.key,
            lead.low,
            lead.high,
            np.array([column for column, _ in others], np.int64),
            np.array([bounds.inside for _, bounds in others], np.bool_),
            _stacked([bounds.low for _, bounds in others], size),
            _stacked([bounds.high for _, bounds in others], size),
        )


def _stacked(rows: Sequence[IntArray], size: int) -> IntGrid:
    return np.array(rows, np.int64).reshape(len(rows), size)


def _bounds(
    terms: tuple[Term, ...], stream: int, columns: IntGrid, layout: Layout
) -> dict[int, Bounds]:
    """For each term, the codes that rows allow for matching rows of other streams."""
    return {
        number: bounds_of(term, stream, columns[layout.place_of(column)])
        for number, term, column in compared(terms, stream)
    }
