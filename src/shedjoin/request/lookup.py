"""Checks of a lookup join: keys and columns of its stream and of its relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shedjoin.errors import ColumnError, ParameterError
from shedjoin.request.options import Options, checked
from shedjoin.request.relations import (
    Relation,
    check_hashed,
    check_new,
    check_relation_given,
    check_validity,
    listed,
    same_columns,
)
from shedjoin.request.streams import Stream
from shedjoin.request.times import check_is_time, event_time
from shedjoin.spec.capabilities.kinds import Feature, JoinKind
from shedjoin.spec.capabilities.table import check_combination
from shedjoin.spec.keys import OutputColumn
from shedjoin.spec.multijoin import by_name
from shedjoin.spec.relation import RelationSpec
from shedjoin.spec.streams import JoinSpec, StreamSpec

STREAM = "stream"
"""Name of the stream in counts."""
RELATION = "relation"
"""Name of the relation in ``on=``."""


_BY_NAME = 'pass on="ad", or by name: on={"stream": "ad", "relation": "ad_id"}.'


@dataclass(frozen=True, slots=True)
class Lookup:
    """A checked lookup join.

    Parameters
    ----------
    keys : pair of tuple of str
        Keys of the stream, and the columns of the relation that equal them.
    time : str, optional
        Time column of the stream; None if the join needs no time.
    active : RelationSpec
        When relation rows are active.
    added : tuple of str
        Columns of the relation that results contain.
    """

    keys: tuple[tuple[str, ...], tuple[str, ...]]
    time: str | None
    active: RelationSpec
    added: tuple[str, ...]


def lookup_shards(relation: object, options: Options) -> int | None:
    """Number of shards; refuse arguments that are wrong whatever the columns are."""
    check_relation_given(relation, "relation")
    if checked(options).cells is not None:
        given = f"cells={options.cells!r}"
        check_combination(JoinKind.LOOKUP, [(Feature.CELLS, given)])
    for name in options.others_than("shards", "seed"):
        raise ParameterError(
            f"Options({name}={getattr(options, name)!r}) is for joins that hold rows, "
            "and a lookup join holds none.",
            fix=f"leave out {name}=.",
        )
    return options.shards


def lookup_of(
    stream: Stream, relation: Stream, asked: Relation, on: object, time: str | None
) -> Lookup:
    """Check the arguments of a lookup join against its columns."""
    if asked.left is not None or asked.right is not None:
        raise ParameterError(
            f"Relation(left={asked.left!r}, right={asked.right!r}) names keys of two "
            "streams, and a lookup join has one.",
            fix='leave them out, and pass on="ad", or on={"stream": "ad", "relation": '
            '"ad_id"}.',
        )
    active = asked.active(relation)
    names = (STREAM, RELATION)
    each = on if isinstance(on, Mapping) else dict.fromkeys(names, on)
    own, others = (listed("on=", one, _BY_NAME) for one in by_name("on", each, names))
    keys = same_columns(stream, own, relation, others)
    if asked.columns is None:
        told = told_columns(active, relation.names)
        added = tuple(name for name in told if name not in keys[1])
    else:
        added = active.told
    check_new(added, stream.names, stream.fold)
    active = replace(active, told=())  # a lookup join emits relation rows themselves
    found = None
    if time is not None or len(stream.marked) == 1:
        found = _time(stream, time)
        check_is_time(stream, found)
        check_validity(active, relation, [(stream, found)])
    elif relation.is_running or active.begin is not None or active.end is not None:
        said = (
            f"the watermarks {list(stream.marked)}" if stream.marked else "no watermark"
        )
        raise ColumnError(
            f"the stream has {said}, and no time= says at which time its rows are "
            "joined.",
            fix='pass time="clicked_at"; with changes of the relation also call '
            'stream.withWatermark("clicked_at", "10 minutes").',
        )
    return Lookup(keys, found, active, added)


def lookup_spec(
    stream: Stream, relation: Stream, lookup: Lookup, shards: int
) -> JoinSpec:
    """Specify the lookup join if the relation is part of its state.

    A relation row is identified by the values of all its columns, so keys are compared
    by hashes.
    """
    told = told_columns(lookup.active, relation.names)
    for name in told:
        check_hashed(relation, name)
    own, others = lookup.keys
    time = event_time(stream, lookup.time)
    columns = tuple((column.name, column.type) for column in stream.columns)
    lag_us = stream.lags_us.get(time, 0)
    spec = JoinSpec(
        streams=(StreamSpec(STREAM, columns, (), time, 0, lag_us),),
        shards=shards,
        direct=True,
        output=(
            *(OutputColumn(0, name, name) for name in stream.names),
            *(OutputColumn(1, name, name) for name in lookup.added),
        ),
    )
    related = tuple((column.name, column.type) for column in relation.columns)
    active = replace(lookup.active, columns=related, keys=(others, told))
    return spec.through(active, [own], direct=False)


def _time(stream: Stream, given: str | None) -> str:
    if given is None:
        return stream.marked[0]
    return stream.resolve(given)[0]


def told_columns(relation: RelationSpec, columns: Sequence[str]) -> tuple[str, ...]:
    """Columns of a relation, except those that say when and how its rows change."""
    when = (relation.begin, relation.end, relation.change)
    return tuple(name for name in columns if name not in when)
