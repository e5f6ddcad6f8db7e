"""A generated case joined by the library and by Spark itself."""

from __future__ import annotations

from datetime import timedelta
from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin
from local.runs import window_of
from shedjoin import Within
from support.asked import asked
from support.keys import key_fields
from support.streams import Case

Frames = tuple[DataFrame, DataFrame]


def marked(case: Case, frames: Frames) -> Frames:
    """Both streams with the watermarks of the case."""
    left, right = frames
    return (
        left.withWatermark("left_time", f"{case.delays_ms[0]} milliseconds"),
        right.withWatermark("right_time", f"{case.delays_ms[1]} milliseconds"),
    )


def ours(case: Case, frames: Frames, **options: Any) -> DataFrame:  # noqa: ANN401
    """The case joined by the library."""
    settings: dict[str, Any] = {"shards": case.shards, **options}
    names = [name for name, _ in key_fields(case.key_kind)]
    return shedjoin.join(*frames, on=names, within=window_of(case), **asked(settings))


def native(case: Case, frames: Frames, how: str = "inner") -> DataFrame:
    """The case joined by Spark, with the columns in our order."""
    names = [name for name, _ in key_fields(case.key_kind)]
    times = ("left_time", "right_time")
    return native_join(
        frames, {name: name for name in names}, window_of(case), times, how
    )


def native_join(
    frames: Frames,
    on: dict[str, str],
    within: Within,
    times: tuple[str, str],
    how: str = "inner",
) -> DataFrame:
    """Spark's own join; keys of the same name once and first, as ours gives them."""
    left, right = frames[0].alias("l"), frames[1].alias("r")
    early, late = F.col(f"l.{times[0]}"), F.col(f"r.{times[1]}")
    conditions = [F.col(f"l.{a}") == F.col(f"r.{b}") for a, b in on.items()]
    conditions += [
        late >= early - F.lit(timedelta(microseconds=within.before_us)),
        late <= early + F.lit(timedelta(microseconds=within.after_us)),
    ]
    shared = [a for a, b in on.items() if a == b]
    sides = "l" if how == "left_semi" else "lr"
    columns = [
        F.coalesce(*(F.col(f"{side}.{name}") for side in sides)).alias(name)
        for name in shared
    ]
    for side, frame in zip(sides, frames, strict=False):
        own = [name for name in frame.columns if name not in shared]
        columns += [F.col(f"{side}.{name}") for name in own]
    return left.join(right, reduce(and_, conditions), how).select(*columns)
