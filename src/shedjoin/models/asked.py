"""The questions that policies can ask the models of a join."""

from __future__ import annotations

from typing import Protocol

from shedjoin.models.sampling import Outlook
from shedjoin.types import FloatArray, IntArray


class AskedModels(Protocol):
    """Estimates for rows, one number for each row.

    The *priority* of a row is a mean of results per second, from its present age to a
    later age. The later age is chosen so that this mean is highest.
    """

    def partner_count(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Arrivals of the other stream with each row's key; older ones count less."""
        ...

    def rate(self, stream: int) -> float:
        """Recent arrivals of a stream per second."""
        ...

    def priority(self, stream: IntArray, key: IntArray, age_us: IntArray) -> FloatArray:
        """Priority of each row, by its age and by how often its key comes."""
        ...

    def priority_by_age(self, stream: IntArray, age_us: IntArray) -> FloatArray:
        """Priority of each row by its age alone, over all keys."""
        ...

    def expected_matches(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Expected matches of a new row over its whole life."""
        ...

    def matches_per_arrival(self, key: IntArray) -> FloatArray:
        """Expected matches of a new row of each key, averaged over both streams."""
        ...

    def cluster_sizes(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Expected matches of new rows, scaled to a mean of 1 (for PPS-CLUSTER)."""
        ...

    def value_sizes(self, stream: IntArray, importance: FloatArray) -> FloatArray:
        """Importance of rows, scaled to a mean of 1 (for samples by value)."""
        ...

    def size_factor(self, stream: IntArray, size: IntArray) -> FloatArray:
        """How often rows of a size match, relative to rows with keys as frequent."""
        ...

    def mean_worth(self, stream: IntArray, importance: FloatArray) -> FloatArray:
        """Mean importance of the results of each row."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether no row has been counted yet."""
        ...

    @property
    def outlook(self) -> Outlook:
        """Predicted variances of the sampling schemes, and a fraction.

        The fraction is the part of the results for which UNIFORM has room.
        """
        ...
