"""The models that a policy can query in a join through a relation.

An arrival of the right stream is counted under the left keys to which the relation
connects its key. So the models have estimates for left keys only. The estimate for a
right key is the sum over the left keys to which it is connected now.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.models.learned import Models
from shedjoin.models.sampling import Outlook, pps_sizes
from shedjoin.operators.star.relation import Relation
from shedjoin.types import FloatArray, IntArray

LEFT, RIGHT = 0, 1


class _Asked(NamedTuple):
    """Left keys that are queried for rows; ``owner`` is the index of the row."""

    owner: IntArray
    stream: IntArray
    key: IntArray


class RelatedModels:
    """Estimates for rows whose keys are connected by a relation.

    Parameters
    ----------
    models : Models
        Models that count all rows under keys of the left stream.
    relation : Relation
        Connects keys of the two streams.
    """

    def __init__(self, models: Models, relation: Relation) -> None:
        self._models = models
        self._relation = relation

    def partner_count(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Decayed count of rows of the other stream that are related to each key."""
        return self._summed(self._models.partner_count, stream, key)

    def priority(self, stream: IntArray, key: IntArray, age_us: IntArray) -> FloatArray:
        """Greatest mean rate of results from an age on, summed over related keys."""
        return self._summed(self._models.priority, stream, key, age_us)

    def expected_matches(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Expected matches of a new row over its whole life."""
        return self._summed(self._models.expected_matches, stream, key)

    def priority_by_age(self, stream: IntArray, age_us: IntArray) -> FloatArray:
        """Greatest mean rate of results from an age to any later age, over all keys."""
        return self._models.priority_by_age(stream, age_us)

    def size_factor(self, stream: IntArray, size: IntArray) -> FloatArray:
        """Size factor: how often rows of a size match, compared with other rows."""
        return self._models.size_factor(stream, size)

    def mean_worth(self, stream: IntArray, importance: FloatArray) -> FloatArray:
        """Mean importance of the results of each row."""
        return self._models.mean_worth(stream, importance)

    def rate(self, stream: int) -> float:
        """Recent arrivals of a stream per second."""
        return self._models.rate(stream)

    def matches_per_arrival(self, key: IntArray) -> FloatArray:  # noqa: ARG002
        """Raise, because with a relation no key belongs to both streams."""
        raise ParameterError(
            "matches_per_arrival() asks about a key of both streams, but in a join "
            "through a relation each stream has keys of its own.",
            fix="ask residents.expected_matches() and residents.partner_count().",
        )

    def cluster_sizes(self, stream: IntArray, key: IntArray) -> FloatArray:
        """Expected matches of new rows, scaled to a mean of 1."""
        mean = self._models.yields.mean_matches()
        return pps_sizes(self.expected_matches(stream, key), mean)

    def value_sizes(self, stream: IntArray, importance: FloatArray) -> FloatArray:
        """Importance of rows, scaled to a mean of 1, for samples by value."""
        return self._models.value_sizes(stream, importance)

    @property
    def is_empty(self) -> bool:
        """Whether no row has been counted yet."""
        return self._models.is_empty

    @property
    def outlook(self) -> Outlook:
        """Predicted variance of each sampling scheme, and the fraction of UNIFORM."""
        return self._models.outlook

    def _summed(
        self,
        ask: Callable[..., FloatArray],
        stream: IntArray,
        key: IntArray,
        *more: IntArray,
    ) -> FloatArray:
        """For each row, sum up estimates over the left keys related to its key."""
        asked = self._asked(stream, key)
        found = ask(asked.stream, asked.key, *(each[asked.owner] for each in more))
        total: FloatArray = np.bincount(asked.owner, found, key.size).astype(np.float64)
        return total

    def _asked(self, stream: IntArray, key: IntArray) -> _Asked:
        right = np.flatnonzero(stream == RIGHT)
        now = np.full(right.size, self._models.clock_us)
        owners, keys = [np.flatnonzero(stream == LEFT)], [key[stream == LEFT]]
        for at, slot in self._relation.active(RIGHT, key[right], now):
            owners.append(right[at])
            keys.append(self._relation.keys(LEFT)[slot])
        # A right row without related keys is queried by its own key, which the models
        # have not counted. So the row gets the same estimate as a left row with a new
        # key, because it may still match if a relation row comes later.
        alone = np.setdiff1d(right, np.concatenate(owners))
        owner = np.concatenate([*owners, alone])
        return _Asked(owner, stream[owner], np.concatenate([*keys, key[alone]]))
