"""Windows over the time of joined rows, and aggregates over them by Spark.

If a time may lie behind the watermark, it is moved forward by its lag, so that no row
is late for its window. The windows are moved back when they are complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

from shedjoin.errors import ColumnError, ParameterError
from shedjoin.spark.event_time import Time, event_time, marked
from shedjoin.spark.names import name_fold, quoted
from shedjoin.spec.keys import Fold
from shedjoin.spec.window import Duration, parse_duration

_TIME = "_shedjoin_time"


class Windows(NamedTuple):
    """Length of the windows and the distance between their beginnings."""

    width_us: int
    slide_us: int

    @staticmethod
    def of(window: Duration, slide: Duration | None) -> Windows:
        """Parse and check the arguments of a user."""
        width_us = parse_duration(window)
        slide_us = width_us if slide is None else parse_duration(slide)
        if not 0 < slide_us <= width_us:
            raise ParameterError(
                f"window={window!r} with slide={slide!r} are no windows.",
                fix='pass window="1 minute", or window="1 hour", slide="5 minutes" for '
                "windows that overlap.",
            )
        return Windows(width_us, slide_us)

    def over(self, time: str, lag_us: int) -> Column:
        """Windows of a time that was moved forward by its lag."""
        lengths = (self.width_us, self.slide_us, lag_us % self.slide_us)
        width, slide, start = (f"{length} microseconds" for length in lengths)
        return F.window(time, width, slide, start)


def moved_back(lag_us: int) -> Column:
    """The windows, moved back to the times that the user has given."""
    if lag_us == 0:
        return F.col("window")
    lag = F.lit(timedelta(microseconds=lag_us))
    ends = (F.col(f"window.{end}") - lag for end in ("start", "end"))
    return F.struct(*(c.alias(n) for c, n in zip(ends, ("start", "end"), strict=True)))


def check_columns(names: Sequence[str], taken: Sequence[str], fold: Fold) -> None:
    """Refuse a result that would have two columns of the same name."""
    times = Counter(map(fold, names))
    twice = [name for name in reversed(names) if times[fold(name)] > 1]
    if twice:
        raise ColumnError(
            f"the result would have several columns {twice[0]!r}.",
            fix="rename an aggregate or a column of by; taken are "
            f"{', '.join(map(repr, taken))}.",
        )


def group_names(by: object) -> list[str]:
    """Columns to group by."""
    if isinstance(by, str):
        return [by]
    if isinstance(by, Sequence) and all(isinstance(name, str) for name in by):
        return list(by)
    raise ParameterError(
        f"by={by!r} does not name columns of the results.",
        fix='write by="campaign" or by=["campaign", "site"]; give an expression a name '
        "with withColumn first.",
    )


def aggregate(
    results: DataFrame,
    *,
    window: Duration,
    aggregates: Mapping[str, Column],
    time: Time | None,
    slide: Duration | None,
    by: str | Sequence[str],
) -> DataFrame:
    """Aggregate joined rows by windows; see :func:`shedjoin.aggregate`."""
    windows = Windows.of(window, slide)
    groups = group_names(by)
    names = ["window", *groups, *aggregates]
    check_columns(names, ["window"], name_fold(results))
    when = event_time(results, time)
    # Grouping columns are renamed by place: Spark does not find names with dots again,
    # and a column that it treats as event time would compete with the window.
    places = [f"_shedjoin_group{place}" for place in range(len(groups))]
    rows = results.select(
        "*",
        marked(when, _TIME, streaming=results.isStreaming),
        *(
            quoted(results, name).alias(place, metadata={})
            for name, place in zip(groups, places, strict=True)
        ),
    )
    counted = rows.groupBy(windows.over(_TIME, when.lag_us), *places).agg(
        *(column.alias(name) for name, column in aggregates.items())
    )
    return counted.select(
        moved_back(when.lag_us).alias("window"),
        *(F.col(place).alias(name) for place, name in zip(places, groups, strict=True)),
        *(quoted(counted, name) for name in aggregates),
    )
