"""The joins under test, and what each gives when nothing interrupts it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, get_args

from shedjoin.columns.arrivals import Blob
from shedjoin.control.record import Messages
from shedjoin.spark.relation import SentRelation
from shedjoin.spec.streams import JoinSpec

from . import pairs, relations, restarted, several, steered
from .attempt import SHARD
from .queries import Query
from .sizes import small_sizes
from .tables import routed, sent_relation
from .uninterrupted import MicroBatch, NotedShard, noted

Kind = Literal[
    "exact",
    "budgeted",
    "sampled",
    "three_exact",
    "three_budgeted",
    "band_exact",
    "band_budgeted",
    "band_throttled",
    "star_table",
    "star_table_budgeted",
    "star_changes",
    "star_changes_budgeted",
    "relation",
    "steered",
    "restarted",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
_QUERIES: dict[Kind, Callable[..., Query]] = {
    "exact": pairs.exact,
    "budgeted": pairs.budgeted,
    "sampled": pairs.sampled,
    "three_exact": several.three_exact,
    "three_budgeted": several.three_budgeted,
    "band_exact": several.band_exact,
    "band_budgeted": several.band_budgeted,
    "band_throttled": several.band_throttled,
    "star_table": relations.star_table,
    "star_table_budgeted": relations.star_table_budgeted,
    "star_changes": relations.star_changes,
    "star_changes_budgeted": relations.star_changes_budgeted,
    "relation": relations.relation,
    "steered": steered.steered,
    "restarted": restarted.restarted,
}


class Start(NamedTuple):
    """One start of the query: the join, and the rows of every micro-batch."""

    spec: JoinSpec
    arrivals: list[list[Blob]]


@dataclass(frozen=True, slots=True)
class Join:
    """One join of one stream, and what it gives when nothing interrupts it.

    Attributes
    ----------
    query
        What it was made from.
    starts
        Each start of the query.
    batches
        The micro-batches of the uninterrupted run, which makes the same starts.
    relation
        The relation of a join through a table.
    """

    query: Query
    starts: list[Start]
    batches: list[MicroBatch]
    relation: SentRelation | None = None

    def start(self, number: int) -> Start:
        """Return the start that runs this micro-batch."""
        return self.starts[self.query.start_of(number)]


def make_join(kind: Kind, stream: int, *, other: bool = False) -> Join:
    """Return a join of this kind; ``other`` has the same spec but another policy."""
    return _made(kind, stream, other)


@cache
def _made(kind: Kind, stream: int, other: bool) -> Join:
    with small_sizes():
        return _of(_QUERIES[kind](stream, other=other))


def _of(query: Query) -> Join:
    shards = [noted(call) for call in query.calls]
    starts = [
        Start(shard.spec, [batch.arrivals for batch in shard.batches])
        for shard in shards
    ]
    batches, relation = shards[0].batches, None
    if query.table:
        relation = sent_relation(starts[0].arrivals[0], starts[0].spec)
        starts = [
            start._replace(
                arrivals=[routed(each, start.spec, relation) for each in start.arrivals]
            )
            for start in starts
        ]
    if relation is not None or len(starts) > 1:
        batches = _again(query, starts, batches, relation)
    return Join(query, starts, batches, relation)


def _again(
    query: Query,
    starts: Sequence[Start],
    batches: Sequence[MicroBatch],
    relation: SentRelation | None,
) -> list[MicroBatch]:
    """Run the micro-batches of all starts, one after the other."""
    rows = None if relation is None else relation.opened().of_shard(SHARD)
    shard = NotedShard(starts[0].spec, rows)
    for number, batch in enumerate(batches):
        start = starts[query.start_of(number)]
        if number and number in query.starts:
            shard.start_again(start.spec)
        if batch.messages:
            shard.steer(Messages(batch.messages, number))
        shard.run(start.arrivals[number], batch.watermark_ms)
    return shard.batches
