"""Payload of matches: arrivals beside residents, wherever those lie."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.operators.budgeted.ordered import Ordered
from shedjoin.operators.frame.combine import Met, combine_rows
from shedjoin.sampling.weights import Sampled
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.payload import Payload
from shedjoin.types import IntArray


class Pairs(NamedTuple):
    """Matches: arrival and payload place of the resident; of a sample, its weights."""

    arrival: IntArray
    place: IntArray
    sampled: Sampled | None

    @staticmethod
    def joined(parts: list[Pairs]) -> Pairs:
        """Put parts together."""
        sampled = [part.sampled for part in parts if part.sampled is not None]
        return Pairs(
            np.concatenate([part.arrival for part in parts]),
            np.concatenate([part.place for part in parts]),
            Sampled(*map(np.concatenate, zip(*sampled, strict=True)))
            if sampled
            else None,
        )


def gather(
    arrivals: Ordered, payload: Payload, spec: JoinSpec, pairs: Pairs
) -> Iterator[pa.RecordBatch]:
    """Joined rows of pairs."""
    arrival, place = pairs.arrival, pairs.place
    tags = None if pairs.sampled is None else pairs.sampled.as_rows()
    for stream, other in permutations(range(len(spec.streams))):  # a pair
        mine = np.flatnonzero(arrivals.stream[arrival] == stream)
        stored = mine[place[mine] >= 0]
        fresh = mine[place[mine] < 0]
        found = []
        if fresh.size:
            hit = arrivals.origin[-1 - place[fresh]]
            found.append((fresh, Met(arrivals.rows[other], hit)))
        if stored.size:
            found += [
                (stored[at], Met(rows, hit))
                for rows, hit, at in payload.by_place(place[stored])
            ]
        for at, theirs in found:
            own = Met(arrivals.rows[stream], arrivals.origin[arrival[at]])
            met = (own, theirs) if stream < other else (theirs, own)
            yield from combine_rows(spec, met, None if tags is None else Met(tags, at))
