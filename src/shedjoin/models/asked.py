"""What a policy may ask of the models, whatever kind of join has learned them."""

from __future__ import annotations

from typing import Protocol

from shedjoin.models.sampling import Outlook
from shedjoin.types import FloatArray, IntArray


class AskedModels(Protocol):
    """Answers about rows: one number for each of them."""

    def partner_count(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Decayed count of each row's key on the other stream."""
        ...

    def rate(self, stream: int) -> float:
        """Arrivals of a stream per second, lately."""
        ...

    def priority(self, stream: IntArray, key: IntArray, age_us: IntArray) -> FloatArray:
        """Best mean rate of results from its age on, for its key's frequency."""
        ...

    def priority_by_age(self, stream: IntArray, age_us: IntArray) -> FloatArray:
        """Best mean rate of results from its age on, whatever the key."""
        ...

    def expected_matches(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Matches that a new row will have in all its life."""
        ...

    def matches_per_arrival(self, key: IntArray) -> FloatArray:
        """Matches of a new row of a key, on average over both streams as it comes."""
        ...

    def cluster_sizes(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Expected matches of new rows, 1 on average, as PPS-CLUSTER takes them."""
        ...

    def value_sizes(self, stream: IntArray, importance: FloatArray) -> FloatArray:
        """Importance of rows, 1 on average, as samples take it."""
        ...

    def size_factor(self, stream: IntArray, size: IntArray) -> FloatArray:
        """How many times as often rows of a size match as their keys let expect."""
        ...

    def mean_worth(self, stream: IntArray, importance: FloatArray) -> FloatArray:
        """Mean importance of a result with each row."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether no row has been counted yet."""
        ...

    @property
    def outlook(self) -> Outlook:
        """What a sample of the join can reach."""
        ...
