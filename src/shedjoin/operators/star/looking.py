"""Finds the keys that rows look for, in a join through a relation with a budget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.columns.hot import hot_columns
from shedjoin.kernels.round import Looks
from shedjoin.models.learned import Models
from shedjoin.operators.frame.combine import Met
from shedjoin.operators.star.changing import SIDES
from shedjoin.operators.star.fixed import FixedRelation
from shedjoin.operators.star.related_models import RelatedModels
from shedjoin.operators.star.relation_store import RelationStore, same_keys
from shedjoin.spec.relation import ALWAYS_US
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import BoolArray, IntArray


class RelationLooks:
    """Decides by a relation which keys of two streams match.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    relation : RelationStore or FixedRelation
        The relation rows of the shard.
    """

    relates = True

    def __init__(self, spec: JoinSpec, relation: RelationStore | FixedRelation) -> None:
        self._relation = relation
        form = spec.relation
        if form is None:
            raise TypeError(spec)
        self.is_fixed = form.fixed
        self._delay_us = 0 if form.fixed else form.delay_us
        self._ends = not form.fixed or form.end is not None

    @property
    def most(self) -> int:
        """Upper bound of the number of relation rows with the same key."""
        return self._relation.rows.most

    def looks(self, stream: IntArray, key: IntArray, time: IntArray) -> Looks:
        """Keys of the other stream for which rows look, each with a range of times.

        A row looks for the keys to which relation rows connect its key. Only relation
        rows that are valid at the time of the row are used.
        """
        relation, none = self._relation.rows, np.zeros(0, np.int64)
        owners, slots, keys = [none], [none], [none]
        for side in SIDES:
            mine = np.flatnonzero(stream == side)
            for at, slot in relation.active(side, key[mine], time[mine]):
                owners.append(mine[at])
                slots.append(slot)
                keys.append(relation.keys(1 - side)[slot])
        owner, slot = np.concatenate(owners), np.concatenate(slots)
        order = np.argsort(owner, kind="stable")
        slot = slot[order]
        first = np.zeros(key.size + 1, np.int64)
        np.cumsum(np.bincount(owner, minlength=key.size), out=first[1:])
        begin, end = relation.begin[slot], relation.end[slot]
        return Looks(first, np.concatenate(keys)[order], begin, end - 1)

    def expiry(
        self,
        stream: IntArray,
        key: IntArray,
        time: IntArray,
        looks: Looks | None = None,
    ) -> IntArray:
        """Time until which each row is related to keys of the other stream.

        This is the last end of the relation rows that are valid at the time of the row.
        If no such relation row has come, the row waits for the delay of the relation.
        Without a delay, this row expires at once. If ``looks`` are given, the ends are
        taken from them, which saves a search.
        """
        if not self._ends:
            return np.full(time.size, ALWAYS_US)
        last = np.full(time.size, -ALWAYS_US)
        if looks is None:
            for side in SIDES:
                mine = stream == side
                rows = self._relation.rows
                last[mine] = rows.last_end(side, key[mine], time[mine])
        else:
            owner = np.repeat(np.arange(time.size), np.diff(looks.first))
            np.maximum.at(last, owner, looks.high + 1)
        none = last == -ALWAYS_US
        last[none] = time[none] + self._delay_us
        return last - 1

    def models(self, models: Models) -> RelatedModels:
        """The models in the form in which a policy queries them in this join."""
        return RelatedModels(models, self._relation.rows)

    def same_keys(self, spec: JoinSpec, met: Sequence[Met]) -> BoolArray:
        """For each match, whether a relation row connects its keys.

        The keys themselves are compared, not only their hashes.
        """
        keys = [
            hot_columns(each.rows, spec.streams[side], direct=spec.direct).key[each.at]
            for side, each in zip(SIDES, met, strict=True)
        ]
        same = np.zeros(met[0].at.size, np.bool_)
        for at, slot in self._relation.rows.of_both(*keys):
            pairs = [Met(each.rows, each.at[at]) for each in met]
            same[at[same_keys(self._relation.taken(slot), spec, pairs)]] = True
        return same
