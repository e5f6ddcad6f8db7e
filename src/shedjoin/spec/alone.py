"""The join of one stream with a relation: which columns its results have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shedjoin.errors import ColumnError
from shedjoin.spec.keys import Fold, OutputColumn
from shedjoin.spec.relation import RelationSpec
from shedjoin.spec.streams import JoinSpec

STREAM = "stream"
"""Name of the stream in counts."""


def told_columns(relation: RelationSpec, columns: Sequence[str]) -> tuple[str, ...]:
    """Columns of a relation that say what its rows are, not when or how they change."""
    when = (relation.begin, relation.end, relation.change)
    return tuple(name for name in columns if name not in when)


def added_columns(
    stream: Sequence[str], told: Sequence[str], keys: Sequence[str], fold: Fold = str
) -> tuple[str, ...]:
    """Columns that a relation adds to those of a stream: all that are no keys."""
    added = tuple(name for name in told if name not in keys)
    known = [*map(fold, stream)]
    for name in added:
        if fold(name) in known:
            raise ColumnError(
                f"the result would have several columns {name!r}.",
                fix="rename that of the relation, e.g. with "
                f'withColumnRenamed("{name}", "relation_{name}"), or drop it.',
            )
        known.append(fold(name))
    return added


def with_relation(
    spec: JoinSpec,
    relation: RelationSpec,
    keys: tuple[tuple[str, ...], tuple[str, ...]],
    fold: Fold = str,
) -> JoinSpec:
    """Say which relation a stream is joined with.

    ``keys`` are those of the stream, and those of the relation that equal them. A
    relation row is known by all that it tells; so its keys are compared by hashes.
    """
    own, others = keys
    told = told_columns(relation, [name for name, _ in relation.columns])
    stream = [name for name, _ in spec.streams[0].columns]
    added = added_columns(stream, told, others, fold)
    output = [OutputColumn(0, name, name) for name in stream]
    output += [OutputColumn(1, name, name) for name in added]
    relation = replace(relation, keys=(others, told))
    return replace(spec.through(relation, [own], direct=False), output=tuple(output))
