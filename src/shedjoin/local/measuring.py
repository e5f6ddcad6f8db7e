"""Runs over archived streams: the exact join, then a join under each memory budget."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import count
from math import ceil
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from shedjoin.errors import ParameterError
from shedjoin.local.archive import ArchivedStream
from shedjoin.local.cutting import Cut, micro_batches
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.local.sizing import Measured, Sizing, readable
from shedjoin.local.tables import stream_of
from shedjoin.operators.budgeted.layout import slot_bytes
from shedjoin.operators.frame.limits import USABLE
from shedjoin.operators.frame.ordered import budget_sizes
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal, MostImportant
from shedjoin.request.spec import Asked, join_spec
from shedjoin.spec.budget import Budget, parse_bytes
from shedjoin.spec.importance import by_stream
from shedjoin.spec.keys import SIDES
from shedjoin.spec.streams import JoinSpec

Tell: TypeAlias = Callable[[str, float], None]
"""Function that gets the name of the present run, and the share that is done."""
_MARGIN = 1.01
"""Safety factor. A part of a micro-batch may have expired, and the remaining rows may
be larger than the mean."""
_MORE = 1.25
"""Factor of the next budget, while the greatest one still loses results."""
_HASH_BYTES = 9


class Archives(NamedTuple):
    """Two archived streams, their cut, the arguments of their join, and a callback."""

    streams: Sequence[ArchivedStream]
    cut: Cut
    arguments: Mapping[str, Any]
    tell: Tell | None = None

    def run(self, what: str, into_sizes: RowSizes | None = None, **budget: Any) -> Run:  # noqa: ANN401  (arguments of the join)
        """Join all of both streams, and count the results."""
        batches = self._batches(what, into_sizes)
        return join(batches, **self.arguments, **budget, collect=False)

    def _batches(
        self, what: str, into_sizes: RowSizes | None
    ) -> Iterator[tuple[pa.Table, pa.Table]]:
        done = np.cumsum(self.cut.rows) / self.cut.rows.sum()
        tables = micro_batches(self.streams, self.cut)
        for (left, right), share in zip(tables, done.tolist(), strict=True):
            if into_sizes is not None:
                into_sizes.add(left, right)
            yield left, right
            (self.tell or on_terminal)(what, share)


class RowSizes:
    """Mean bytes of the rows of each micro-batch, as a budget counts them."""

    def __init__(self, spec: JoinSpec) -> None:
        self._index_bytes = slot_bytes(2) + (0 if spec.direct else _HASH_BYTES)
        self._means: list[list[float]] = []

    def add(self, *tables: pa.Table) -> None:
        """Measure the rows of one micro-batch."""
        sizes = [
            [budget_sizes(rows, self._index_bytes).sum() for rows in table.to_batches()]
            for table in tables
        ]
        self._means.append(
            [
                float(sum(own)) / max(1, table.num_rows)
                for own, table in zip(sizes, tables, strict=True)
            ]
        )

    def needed(self, exact: Run) -> int:
        """Budget in bytes that has room for all rows that the exact join ever held.

        Micro-batches are cut by time, so the rows that are held are the last rows of
        each stream.
        """
        seen = np.array([batch.report.seen for batch in exact.batches])
        resident = np.array([batch.report.resident for batch in exact.batches])
        held = np.zeros(len(exact.batches))
        for own, means in enumerate(zip(*self._means, strict=True)):
            rows = np.concatenate([[0], np.cumsum(seen[:, own])])
            size = np.concatenate([[0], np.cumsum(seen[:, own] * np.array(means))])
            held += size[1:] - np.interp(rows[1:] - resident[:, own], rows, size)
        return ceil(_MARGIN * float(held.max()) / USABLE)


def measure(
    archives: Archives,
    spec: JoinSpec,
    keep: Goal | Policy | None,
    parts: Sequence[float],
) -> Sizing:
    """Measure what the exact join holds, and the recall under parts of that memory."""
    sizes = RowSizes(spec)
    exact = archives.run("exact join", sizes)
    results = _sum(exact, "matched")
    if not results:
        raise ParameterError(
            "the exact join of these rows has no results, so there is no recall.",
            fix="check on=, within= and time=, or pass archives of the same hours.",
        )
    whole = sizes.needed(exact)
    budgets = {parse_bytes(readable(ceil(part * whole))) for part in (*parts, 1.0)}
    waiting = sorted(budgets)
    runs: list[tuple[int, Run]] = []
    for number in count(1):
        memory = waiting.pop(0)
        what = f"budget of {readable(memory)}, {number} of {number + len(waiting)}"
        run = archives.run(what, budget=Budget(memory=memory), keep=keep)
        runs.append((memory, run))
        if not waiting and _sum(run, "matched") >= results:
            break
        if not waiting:
            waiting.append(parse_bytes(readable(ceil(_MORE * memory))))
    goal = "importance" if isinstance(keep, MostImportant) else "matched"
    return _sizing(archives.cut, exact, runs, goal)


def _sizing(cut: Cut, exact: Run, runs: Sequence[tuple[int, Run]], goal: str) -> Sizing:
    total = _sum(runs[-1][1], goal)  # the last run lost no result
    if total <= 0:
        raise ParameterError(
            f"the importance of all results adds up to {total:g}: there is no recall.",
            fix="pass a column whose values are positive, or leave keep out.",
        )
    rows = [sum(batch.report.resident) for batch in exact.batches]
    state = [batch.report.state_bytes for batch in exact.batches]
    seen = np.array([batch.report.seen for batch in exact.batches]).sum(axis=0)
    return Sizing(
        seen=tuple(seen.tolist()),
        micro_batches=len(rows),
        micro_batch=timedelta(microseconds=cut.length_us),
        results=int(_sum(exact, "matched")),
        peak_rows=max(rows),
        mean_rows=round(np.mean(rows)),
        peak_bytes=max(state),
        mean_bytes=round(np.mean(state)),
        sizes=tuple(
            Measured(
                memory=memory,
                rows=max(sum(batch.report.resident) for batch in run.batches),
                results=int(_sum(run, "matched")),
                recall=_sum(run, goal) / total,
            )
            for memory, run in runs
        ),
        of_importance=goal == "importance",
    )


def checked_spec(
    streams: Sequence[ArchivedStream],
    keep: Goal | Policy | None,
    arguments: Mapping[str, Any],
) -> JoinSpec:
    """Check the arguments of all runs before anything is read; return the join."""
    named = zip(SIDES, streams, strict=True)
    known = [stream_of(stream.schema, name) for name, stream in named]
    same = {name: arguments[name] for name in ("on", "within", "time")}
    join_spec(known, Asked(**same, budget=Budget(memory=1), keep=keep), 1)
    if isinstance(keep, MostImportant):
        by_stream(keep.importance, {stream.name: stream.names for stream in known})
    options = arguments["options"]
    asked = Asked(**same, options=options)
    return join_spec(known, asked, asked.options.shards or 1)


def cut(
    streams: Sequence[ArchivedStream], spec: JoinSpec, length_us: int | None
) -> Cut:
    """Cut the streams into micro-batches of this length, or by the window."""
    if length_us is None:
        found = Cut.by_window(streams, spec.window_us)
    else:
        found = Cut.by_length(streams, length_us)
    if not found.numbers.size:
        names = " and ".join(repr(stream.time) for stream in streams)
        raise ParameterError(
            f"no row has a time in {names}: there is nothing to measure.",
            fix="pass archives with rows, or name other columns in time=.",
        )
    return found


def on_terminal(what: str, done: float) -> None:
    """Show on standard error how much of a run is done, if it is a terminal."""
    if sys.stderr.isatty():
        end = "\n" if done >= 1 else ""
        sys.stderr.write(f"\r\x1b[K{what}: {done:.0%}{end}")


def _sum(run: Run, count_name: str) -> float:
    return float(sum(getattr(batch.report, count_name) for batch in run.batches))
