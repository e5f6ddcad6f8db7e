"""Builds the joined rows of matches of arrivals with residents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.kernels.grouping import Grouped, Segments, group_matches
from shedjoin.operators.frame.combine import Met, SameKeys, combine_rows
from shedjoin.operators.frame.ordered import Ordered
from shedjoin.sampling.weights import Sampled
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.payload import ROW_BITS, Payload
from shedjoin.types import IntArray


class Pairs(NamedTuple):
    """Matches: positions of arrivals, places of residents, and weights in a sample."""

    arrival: IntArray
    place: IntArray
    sampled: Sampled | None

    @staticmethod
    def joined(parts: list[Pairs]) -> Pairs:
        """Concatenate parts."""
        sampled = [part.sampled for part in parts if part.sampled is not None]
        return Pairs(
            np.concatenate([part.arrival for part in parts]),
            np.concatenate([part.place for part in parts]),
            Sampled(*map(np.concatenate, zip(*sampled, strict=True)))
            if sampled
            else None,
        )


def gather(
    arrivals: Ordered,
    payload: Payload,
    spec: JoinSpec,
    pairs: Pairs,
    same_keys: SameKeys,
) -> Iterator[pa.RecordBatch]:
    """Yield the joined rows of pairs, grouped by the segments of the residents.

    Kernels match rows by a hash of their keys. So the keys themselves are compared
    here, by ``same_keys``.
    """
    tags = None if pairs.sampled is None else pairs.sampled.as_rows()
    ids, grouped = _grouped(arrivals, payload, pairs)
    start = 0
    for (stream, group), end in np.ndenumerate(grouped.end):
        part = slice(start, start := int(end))
        if part.start == part.stop:
            continue
        (other,) = set(range(len(spec.streams))) - {stream}  # there are two streams
        rows = payload.get(ids[group - 1]) if group else arrivals.rows[other]
        met = [Met(arrivals.rows[stream], grouped.own[part])]
        met.insert(other, Met(rows, grouped.theirs[part]))
        tag = None if tags is None else Met(tags, grouped.match[part])
        yield from combine_rows(spec, met, tag, same_keys)


def _grouped(
    arrivals: Ordered, payload: Payload, pairs: Pairs
) -> tuple[list[int], Grouped]:
    """Numbers of all segments, and matches grouped by stream and segment."""
    ids = sorted(payload.segments)
    first = ids[0] if ids else 0
    group = np.zeros(ids[-1] - first + 1 if ids else 0, np.int64)
    group[np.array(ids, np.int64) - first] = np.arange(1, len(ids) + 1)
    match, own, theirs = (np.empty(pairs.arrival.size, np.int64) for _ in range(3))
    end = np.empty((len(arrivals.rows), len(ids) + 1), np.int64)
    grouped = Grouped(match, own, theirs, end)
    segments = Segments(group, first, ROW_BITS)
    group_matches(*pairs[:2], arrivals.stream, arrivals.origin, segments, grouped)
    return ids, grouped
