"""The join of two DataFrames through a relation."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from shedjoin.spark.columns import Arguments, fits_64_bits, make_spec
from shedjoin.spark.importance import importance_columns
from shedjoin.spark.join import check_frames, planned, shard_count
from shedjoin.spark.names import name_fold
from shedjoin.spark.relating import check_streaming, check_times, key_columns
from shedjoin.spec.conditions import Conditions
from shedjoin.spec.keys import SIDES, check_pair
from shedjoin.spec.relation import (
    RelationSpec,
    Through,
    check_relation,
    parse_delay,
    relation_keys,
)
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.window import Duration, Within, check_window


def star_join(  # noqa: PLR0913  (documented in shedjoin.api)
    left: DataFrame,
    right: DataFrame,
    relation: DataFrame,
    *,
    on: Through,
    within: Within,
    valid: tuple[str, str] | None,
    change: tuple[str, str] | None,
    delay: Duration,
    shedding: Shedding | None,
    importance: object,
    time: tuple[str, str] | None,
    shards: int | None,
    suffixes: tuple[str, str],
    name: str,
    event_time: str | None,
) -> DataFrame:
    """Join two DataFrames through a relation; see :func:`shedjoin.star_join`."""
    check_window(within)
    check_frames({"left": left, "right": right, "relation's": relation})
    arguments = Arguments(
        names=SIDES,
        keys=((), ()),
        keeps_us=(within.after_us, within.before_us),
        time=None if time is None else check_pair("time", time),
        shards=shard_count(left, shards, Conditions((), ())),
        suffixes=check_pair("suffixes", suffixes),
    )
    frames = (left, right)
    spec = make_spec(frames, arguments)
    check_streaming(left, relation, valid, change)
    active = check_relation(relation.columns, valid, change, name_fold(relation))
    active = replace(
        active, delay_us=parse_delay(delay), fixed=not relation.isStreaming
    )
    spec = _through(spec, frames, relation, on, active).with_shedding(shedding)
    worth = importance_columns(importance, frames)
    return planned(frames, spec, name, worth, event_time, None, relation)


def _through(
    spec: JoinSpec,
    frames: tuple[DataFrame, DataFrame],
    relation: DataFrame,
    on: Through,
    active: RelationSpec,
) -> JoinSpec:
    """Say through which columns of a relation two streams are joined."""
    times = {
        own.time: frame.schema[own.time].dataType
        for frame, own in zip(frames, spec.streams, strict=True)
    }
    check_times(relation, (active.begin, active.end), times)
    given, related = relation_keys(on)
    own, keys, direct = [], [], True
    for side, frame, names, others in zip(SIDES, frames, given, related, strict=True):
        pair = key_columns(side, frame, names, relation, others)
        own.append(pair[0])
        keys.append(pair[1])
        direct &= fits_64_bits([frame.schema[name].dataType for name in pair[0]])
    active = replace(active, keys=(keys[0], keys[1]))
    columns = tuple(
        (name, relation.schema[name].dataType.simpleString())
        for name in active.used_columns
    )
    active = replace(active, columns=columns)
    return spec.through(active, own, direct=direct)
