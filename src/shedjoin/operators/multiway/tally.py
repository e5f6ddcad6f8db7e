"""Counts what shredded arrivals find, by lag; harvests are chosen by these counts."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from shedjoin.kernels.ranges import Asked, count_lags
from shedjoin.operators.multiway.lags import BUCKETS, Edges, buckets
from shedjoin.types import IntArray, IntGrid


class Looked(NamedTuple):
    """A tier, and the partial results from ``start`` to ``end`` compared with it."""

    asked: Asked
    tier: IntGrid
    start: int
    end: int
    time: IntArray


class Found(NamedTuple):
    """Lags of matches, and indices of their arrivals."""

    lag: IntArray
    arrival: IntArray


class Tally:
    """Counts of one micro-batch, by direction, hop and lag bucket.

    Parameters
    ----------
    streams : int
        Number of streams.
    edges : dict
        Starts of the lag buckets and the end of the last one, by direction and hop.
    """

    opening: ClassVar[int] = 16
    """Work to find the first row in a basic window, in comparisons with residents."""

    def __init__(self, streams: int, edges: Edges) -> None:
        size = streams, streams
        self.edges = edges
        self.partial = np.zeros(size, np.int64)
        self.rows = np.zeros((*size, BUCKETS))
        self.matches = np.zeros((*size, BUCKETS), np.int64)
        self.squares = np.zeros(size)
        self.results = np.zeros(streams, np.int64)

    def began(self, stream: int, other: int, partial: int) -> None:
        """Count partial results that begin a hop."""
        self.partial[stream, other] += partial

    def opened(
        self, stream: int, other: int, time: IntArray, window: tuple[int, int]
    ) -> None:
        """Count the work to open a basic window, by lag bucket.

        An arrival opens this basic window for a bucket if its time minus the middle lag
        of the bucket lies in the window. The work is counted for these buckets. It is
        multiplied by the width of the bucket divided by the width of the window, so
        that the buckets which share a window together count its opening once.
        """
        edges = self.edges[stream, other]
        middle = (edges[1:] + edges[:-1]) // 2
        before = np.searchsorted(time, window[0] + middle)
        until = np.searchsorted(time, window[1] + middle, side="right")
        looks = (until - before) * np.diff(edges) / (window[1] - window[0] + 1)
        self.rows[stream, other] += self.opening * looks

    def looked(self, stream: int, other: int, looked: Looked) -> None:
        """Count the residents that partial results are compared with, by lag bucket."""
        counts = self.rows[stream, other]
        count_lags(*looked, self.edges[stream, other], counts)

    def met(self, stream: int, other: int, found: Found, *, complete: bool) -> None:
        """Count matches, and results if the matches complete them.

        Partial results of one arrival match the same residents, so their matches are
        not independent. So the variance of a count is estimated by a sum of squares:
        the squared number of matches of each arrival in each lag bucket.
        """
        bucket = buckets(self.edges[stream, other], found.lag)
        self.matches[stream, other] += np.bincount(bucket, minlength=BUCKETS)
        together = np.unique(found.arrival * BUCKETS + bucket, return_counts=True)[1]
        self.squares[stream, other] += together @ together
        if complete:
            self.results[stream] += found.lag.size
