"""Run a join over micro-batches of pyarrow tables, in this process."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.columns.arrivals import Blob
from shedjoin.columns.packing import pack
from shedjoin.errors import ParameterError
from shedjoin.local.shard import LocalShard
from shedjoin.local.tables import (
    make_spec,
    result_schema,
    usable_rows,
    with_importance,
)
from shedjoin.local.watermark import Watermark
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal, MostImportant, shedding_of
from shedjoin.spec.budget import Budget
from shedjoin.spec.importance import Source, by_side
from shedjoin.spec.keys import On
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.spec.report import Report
from shedjoin.spec.shedding import Discipline
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.window import Duration, Within, parse_duration
from shedjoin.types import SIDES


@dataclass(frozen=True, slots=True)
class LocalBatch:
    """What one micro-batch gave."""

    results: pa.Table
    report: Report


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its micro-batches and a digest of the state after each."""

    batches: list[LocalBatch]
    state_bytes: list[bytes]

    @property
    def results(self) -> pa.Table:
        """The joined rows of all micro-batches."""
        return pa.concat_tables(batch.results for batch in self.batches)

    @property
    def report(self) -> Report:
        """Counts of the whole run; residents and bytes are those at its end."""
        reports = [batch.report for batch in self.batches]
        last = reports[-1]
        return replace(
            sum(reports, Report()),
            resident_left=last.resident_left,
            resident_right=last.resident_right,
            segments=last.segments,
            state_bytes=last.state_bytes,
        )

    def __str__(self) -> str:
        report = self.report
        lines: list[tuple[str, float, int | str]] = [
            ("micro-batches", len(self.batches), ""),
            ("seen", report.seen_left, report.seen_right),
            ("late", report.late_left, report.late_right),
            ("expired", report.expired_left, report.expired_right),
            ("resident", report.resident_left, report.resident_right),
            ("shed", report.shed_left, report.shed_right),
            ("matched", report.matched, ""),
            ("state bytes", report.state_bytes, ""),
        ]
        if report.shed_left or report.shed_right:
            lines.append(("recall, est.", round(report.recall, 3), ""))
        return "\n".join(f"{name:<14}{a:>12}{b:>12}" for name, a, b in lines)


@dataclass(frozen=True, slots=True)
class Delivery:
    """How rows reach the shards: each side cut into blobs, in a shuffled order."""

    blobs: int = 1
    shuffle_seed: int = 0
    importance: tuple[Source | None, Source | None] = (None, None)

    def deliver(
        self, tables: tuple[pa.Table, pa.Table], spec: JoinSpec
    ) -> Iterator[tuple[int, Blob]]:
        """Blobs of one micro-batch with their shards."""
        parts = []
        for side in SIDES:
            usable = usable_rows(tables[side], spec.sides[side], direct=spec.direct)
            usable = with_importance(usable, self.importance[side])
            size = -(-usable.num_rows // self.blobs) or 1
            starts = range(0, usable.num_rows, size)
            parts += [(side, usable.slice(start, size)) for start in starts]
        if self.blobs > 1:
            random.Random(self.shuffle_seed).shuffle(parts)  # noqa: S311
        for side, rows in parts:
            yield from pack([rows], side, spec)


def join(  # noqa: PLR0913  (mirrors shedjoin.join; all but the first are keywords)
    batches: Iterable[tuple[pa.Table, pa.Table]],
    *,
    on: On,
    within: Within,
    time: tuple[str, str],
    lateness: tuple[Duration, Duration] = ("0 seconds", "0 seconds"),
    shards: int = 1,
    suffixes: tuple[str, str] = ("_left", "_right"),
    restart_every: int = 0,
    blobs: int = 1,
    shuffle_seed: int = 0,
    budget: Budget | None = None,
    keep: Goal | Policy | None = None,
    discipline: Discipline = "probe_then_insert",
    recompute: Recompute = DEFAULT,
    seed: int = 0,
    bucket_seed: int = 0,
) -> Run:
    """Join two streams given as micro-batches of tables.

    Parameters
    ----------
    batches : iterable of (left, right) tables
        The micro-batches, in order; either table may be empty.
    on, within, suffixes
        As in :func:`shedjoin.join`.
    time : (str, str)
        Event-time columns of the left and the right table.
    lateness : (duration, duration)
        How far each stream's watermark stays behind its greatest event time.
    shards : int, default 1
        Number of shards.
    restart_every : int, default 0
        Start again from the stored bytes after so many micro-batches; 0 is never.
    blobs, shuffle_seed : int
        Cut each side into so many blobs and deliver them in a shuffled order.
    budget, keep, discipline, recompute, seed
        As in :func:`shedjoin.join`.
    bucket_seed : int, default 0
        Seed of the hash index; no result depends on it. On Spark it is a secret of the
        query, so that nobody can choose keys for one bucket.

    Returns
    -------
    Run
        Results and reports of every micro-batch.
    """
    if shards < 1:
        raise ParameterError(f"shards={shards} is not a count.", fix="pass shards=1.")
    shedding = shedding_of(
        budget, keep, discipline=discipline, recompute=recompute, seed=seed
    )
    delays = (parse_duration(lateness[0]), parse_duration(lateness[1]))
    watermark = Watermark(delays)
    run = Run([], [])
    workers: list[LocalShard] = []
    for number, tables in enumerate(batches):
        if not workers:
            schemas = (tables[0].schema, tables[1].schema)
            spec = make_spec(schemas, on, within, time, shards, suffixes)
            spec = spec.with_shedding(shedding)
            workers = [LocalShard(spec, shard, bucket_seed) for shard in range(shards)]
            importance = _importance(keep, schemas)
            delivery = Delivery(blobs, shuffle_seed, importance)
        arrived = list(delivery.deliver(tables, spec))
        if restart_every and number and number % restart_every == 0:
            for worker in workers:
                worker.restart()
        outcomes = [
            worker.run([b for s, b in arrived if s == shard], watermark.current_ms)
            for shard, worker in enumerate(workers)
        ]
        report = sum((outcome.report for outcome in outcomes), Report())
        rows = [batch for outcome in outcomes for batch in outcome.results]
        schema = result_schema(schemas, spec)
        results = pa.Table.from_batches([batch.cast(schema) for batch in rows], schema)
        run.batches.append(LocalBatch(results, report))
        run.state_bytes.append(b"".join(worker.blobs.digest() for worker in workers))
        watermark.observe(
            (_greatest(tables[0], spec, 0), _greatest(tables[1], spec, 1))
        )
    return run


def _importance(
    keep: Goal | Policy | None, schemas: tuple[pa.Schema, pa.Schema]
) -> tuple[Source | None, Source | None]:
    if not isinstance(keep, MostImportant):
        return None, None
    return by_side(keep.importance, (schemas[0].names, schemas[1].names))


def _greatest(table: pa.Table, spec: JoinSpec, side: int) -> int | None:
    usable = usable_rows(table, spec.sides[side], direct=True)
    time = usable.column(spec.sides[side].time).cast(pa.timestamp("us"), safe=False)
    value: int | None = pc.max(time.view(pa.int64())).as_py()
    return value
