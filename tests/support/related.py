"""Joins with a relation whose settings are keywords, as tests vary them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import shedjoin as sj
from shedjoin import Relation, local
from support.asked import asked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def through(
    rows: object,
    on: Any,  # noqa: ANN401
    **settings: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Arguments of a join through a relation; settings of the relation leave."""
    (left, left_key), (right, right_key) = on
    said = {name: settings.pop(name) for name in _OWN if name in settings}
    relation = Relation(rows, left=left_key, right=right_key, **said)
    return {
        "on": {"left": left, "right": right},
        "through": relation,
        **asked(settings),
    }


_OWN = ("valid", "change", "delay", "columns")


def star_join(
    batches: Iterable[Sequence[pa.Table]],
    relation: object,
    *,
    on: object,
    **settings: Any,  # noqa: ANN401
) -> local.Run:
    """Join tables; ``on`` has columns of each stream and those of the relation."""
    return local.join(batches, **through(relation, on, **settings))


def spark_star_join(
    left: DataFrame,
    right: DataFrame,
    relation: DataFrame,
    *,
    on: object,
    **settings: Any,  # noqa: ANN401
) -> DataFrame:
    """Join DataFrames in the same way."""
    return sj.join(left, right, **through(relation, on, **settings))


def _looked_up(
    rows: object,
    on: object,
    settings: dict[str, Any],
) -> tuple[Relation, dict[str, Any]]:
    said = {name: settings.pop(name) for name in _OWN if name in settings}
    if isinstance(on, dict):
        on = {"stream": [*on], "relation": [*on.values()]}
    return Relation(rows, **said), {"on": on, **asked(settings)}


def relation_join(
    batches: Iterable[Sequence[pa.Table]],
    relation: object,
    *,
    on: object,
    **settings: Any,  # noqa: ANN401
) -> local.Run:
    """Join a stream of tables; ``on`` may map its columns to those of the relation."""
    rows, others = _looked_up(relation, on, settings)
    return local.lookup_join(batches, rows, **others)


def spark_relation_join(
    stream: DataFrame,
    relation: DataFrame,
    *,
    on: object,
    **settings: Any,  # noqa: ANN401
) -> DataFrame:
    """Join a DataFrame in the same way."""
    rows, others = _looked_up(relation, on, settings)
    return sj.lookup_join(stream, rows, **others)
