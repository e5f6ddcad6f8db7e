"""The public call that measures recall against memory on archived streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shedjoin.errors import ParameterError
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal
from shedjoin.request.arguments import each_column
from shedjoin.request.options import DEFAULTS, Options
from shedjoin.spec.conditions import OnStreams
from shedjoin.spec.keys import SIDES
from shedjoin.spec.window import Duration, WithinPair, parse_duration

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.dataset import Dataset

    from shedjoin.local.sizing import Sizing

PARTS = (0.05, 0.1, 0.25, 0.5)
"""Memory sizes to measure, as parts of what the exact join holds."""


def size(  # noqa: PLR0913  (two streams; all else by keyword)
    left: str | Path | pa.Table | Dataset,
    right: str | Path | pa.Table | Dataset,
    *,
    on: OnStreams,
    within: WithinPair,
    time: tuple[str, str],
    keep: Goal | Policy | None = None,
    lateness: Duration | tuple[Duration, Duration] = "0 seconds",
    options: Options = DEFAULTS,
    columns: Sequence[Sequence[str] | None] = (None, None),
    parts: Sequence[float] = PARTS,
    micro_batch: Duration | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Sizing:
    """Measure on archived streams how recall depends on memory.

    The join runs over the archives in this process, without Spark: once without a
    budget, then once for each memory size. The recall of a run is the number of its
    results divided by the number of results of the exact join. It is counted, not
    estimated.

    Each run reads the archives once, by ranges of event time. A range has a million
    rows at most, unless a single micro-batch has more. Parquet files may lie in any
    order, but are read faster if their row groups are sorted by event time.

    Parameters
    ----------
    left, right : path, pyarrow.Table or pyarrow.dataset.Dataset
        The archived streams. A path is a Parquet file, a folder of such files or a
        pattern such as ``"day/*.parquet"``.
    on, within
        As in :func:`join`.
    time : (str, str)
        Event-time columns. Rows without a time are ignored.
    keep : goal or policy, optional
        As in :func:`join`. With ``MostImportant`` recall is the share of importance.
    lateness : duration, or (duration, duration)
        Delays of the query's watermarks. Rows are held longer by this time.
    options : Options, optional
        As in :func:`join`: ``Options(shards=8)`` divides the budget between 8 shards.
    columns : (sequence, sequence), optional
        Columns of the left and of the right stream that the query will carry, including
        keys and time. None means all columns. Each column takes memory.
    parts : sequence of float, default (0.05, 0.1, 0.25, 0.5)
        Memory sizes to measure, as parts of the budget that has room for all rows that
        the exact join holds. That budget itself is always measured.
    micro_batch : duration, optional
        Length of a micro-batch in event time, such as the trigger interval of the
        query. The default is a 24th of the time for which rows are held, but at least a
        second. It is longer if there would otherwise be more than 2,400 micro-batches.
    progress : callable, optional
        Called with the name of the run and the share of its rows that is done. By
        default both are shown on standard error, if that is a terminal.

    Returns
    -------
    Sizing
        When it is printed, it is a table. ``budget_for(0.95)`` gives the budget for a
        recall, ``memory_for(0.95)`` gives the bytes of this budget, and
        ``plot("recall.png")`` draws the curve.

    Examples
    --------
    >>> import pyarrow as pa, shedjoin as sj
    >>> def stream(name, rows):
    ...     time = pa.array([n * 1_000_000 for n in range(rows)], pa.timestamp("us"))
    ...     return pa.table({"id": [n % 10 for n in range(rows)], name: time})
    >>> sizing = sj.size(
    ...     stream("a", 100),
    ...     stream("b", 100),
    ...     on="id",
    ...     within=sj.Within(before="20 seconds", after="20 seconds"),
    ...     time=("a", "b"),
    ...     parts=[0.5],
    ...     micro_batch="10 seconds",
    ... )
    >>> sizing.results, sizing.peak_rows, sizing.budget_for(0.95)
    (435, 60, Budget(memory='9.34 kB'))
    """
    from shedjoin.local.archive import open_stream
    from shedjoin.local.measuring import Archives, checked_spec, cut, measure

    named = zip(
        SIDES, (left, right), each_column("time", time, SIDES), columns, strict=True
    )
    streams = [open_stream(*each) for each in named]
    arguments = {
        "on": on,
        "within": within,
        "time": time,
        "lateness": lateness,
        "options": options,
    }
    spec = checked_spec(streams, keep, arguments)
    length_us = None if micro_batch is None else _length_us(micro_batch)
    archives = Archives(streams, cut(streams, spec, length_us), arguments, progress)
    return measure(archives, spec, keep, _checked(parts))


def _length_us(micro_batch: Duration) -> int:
    length_us = parse_duration(micro_batch)
    if length_us <= 0:
        raise ParameterError(
            f"micro_batch={micro_batch!r} is no time.",
            fix='pass a length such as "10 seconds", or leave it out.',
        )
    return length_us


def _checked(parts: Sequence[float]) -> Sequence[float]:
    given: Sequence[object] = parts
    for part in given:
        if not isinstance(part, float | int) or not 0 < part <= 1:
            raise ParameterError(
                f"parts={parts!r} has {part!r}, which is not a part of the whole.",
                fix="pass numbers above 0 and up to 1, such as parts=(0.1, 0.5).",
            )
    return parts
