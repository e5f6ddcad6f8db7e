"""The event time of each stream."""

from __future__ import annotations

from collections.abc import Sequence

from shedjoin.errors import ColumnError, ColumnTypeError
from shedjoin.request.streams import Stream


def event_time(stream: Stream, given: str | None) -> str:
    """Find the event time: the given column, or the column of the watermark."""
    if given is not None:
        (time,) = stream.resolve(given)
    elif len(stream.marked) == 1:
        (time,) = stream.marked
    else:
        raise _no_time(stream)
    check_is_time(stream, time)
    unmarked = given is not None and time not in stream.lags_us
    if stream.is_running and unmarked:
        raise ColumnError(
            f"the {stream.name} stream has no watermark on {time!r}.",
            fix=_watermark_for(stream, time),
        )
    return time


def check_is_time(stream: Stream, time: str) -> None:
    """Refuse an event time of another type than a timestamp."""
    column = stream.column(time)
    if not column.is_time:
        times = [each.name for each in stream.columns if each.is_time]
        owner = "stream" if stream.name == "stream" else f"{stream.name} stream"
        others = f", or use another column: {_listed(times)}" if times else ""
        raise ColumnTypeError(
            f"the event time {time!r} of the {owner} is of type {column.type}.",
            fix=f"cast it to a timestamp, before withWatermark if it has one{others}.",
        )


def check_clocks(streams: Sequence[Stream], times: Sequence[str]) -> None:
    """Refuse times with a time zone beside times without: these cannot be compared."""
    each = [stream.column(time) for stream, time in zip(streams, times, strict=True)]
    for column in each[1:]:
        if (column.arrow.tz is None) != (each[0].arrow.tz is None):
            raise ColumnTypeError(
                f"the event time {each[0].name!r} is of type {each[0].type}, "
                f"{column.name!r} of type {column.type}.",
                fix="cast one of them, before withWatermark if it has one; both must "
                "have a time zone, or none.",
            )


def _no_time(stream: Stream) -> ColumnError:
    times = [each.name for each in stream.columns if each.is_time]
    example = times[0] if times else "event_time"
    if stream.marked:
        return ColumnError(
            f"the {stream.name} stream has several event-time columns: "
            f"{list(stream.marked)}.",
            fix=_naming(stream, example),
        )
    if stream.is_running:
        return ColumnError(
            f"the {stream.name} stream has no watermark, so its rows could never "
            "expire.",
            fix=_watermark_for(stream, example),
        )
    return ColumnError(
        f"the {stream.name} table does not say which column is its event time.",
        fix=_naming(stream, example),
    )


def _naming(stream: Stream, example: str) -> str:
    """How a user names the event time in a call; a lookup join has only one stream."""
    if stream.name == "stream":
        return f'pass time="{example}".'
    return f'name one by stream: time={{"{stream.name}": "{example}", ...}}.'


def _watermark_for(stream: Stream, time: str) -> str:
    """How to give a stream a watermark. After a join, Spark refuses another one."""
    if stream.is_result:
        return (
            'pass event_time="matched_at" to the join that it comes from and go by '
            f'that time, or name one of its times, e.g. "{time}", in time=.'
        )
    return f'call {stream.name}.withWatermark("{time}", "10 minutes") first.'


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
