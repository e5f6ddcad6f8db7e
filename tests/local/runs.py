"""One case run by the library and by the oracle, brought to the same shape."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pyarrow as pa

from oracle.join import Row, exact_join
from shedjoin import Within, local
from support.asked import asked
from support.keys import key_fields
from support.streams import Case, note_of, tables

Match = tuple[int, int, str | None, int | None]
REPORTED = (
    "seen_left",
    "seen_right",
    "late_left",
    "late_right",
    "matched",
    "resident_left",
    "resident_right",
    "watermark_ms",
)


def counts_of(batch: local.LocalBatch) -> dict[str, float]:
    """Counts by name."""
    return batch.report.counts(("left", "right"))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave, per micro-batch: matches as a multiset, and the report."""

    matches: list[Counter[Match]]
    reports: list[dict[str, int]]
    states: list[bytes] = field(default_factory=list, compare=False)
    results: pa.Table | None = field(default=None, compare=False)


def matches_of(results: pa.Table) -> Counter[Match]:
    """Return (left_id, right_id, note, amount) of the joined rows."""
    names = ("left_id", "right_id", "left_note", "right_amount")
    columns = [results.column(name).to_pylist() for name in names]
    return Counter(zip(*columns, strict=True))


def match_of(left: Row, right: Row) -> Match:
    """Return the same for a pair of the oracle."""
    return left.payload[0], right.payload[0], note_of(left.payload[1]), right.payload[1]


def window_of(case: Case) -> Within:
    """Return the case's window."""
    return Within(
        before=timedelta(microseconds=case.before_us),
        after=timedelta(microseconds=case.after_us),
    )


def run(
    case: Case,
    streams: Sequence[tuple[pa.Table, pa.Table]] | None = None,
    on: str | list[str] | dict[str, list[str]] | None = None,
    **options: int,
) -> Outcome:
    """Join the case's tables, or these, with the local runner."""
    names = [name for name, _ in key_fields(case.key_kind)]
    left_ms, right_ms = case.delays_ms
    settings: dict[str, Any] = {"shards": case.shards, **options}
    done = local.join(
        tables(case) if streams is None else streams,
        on=on or (names if len(names) > 1 else names[0]),
        within=window_of(case),
        time=("left_time", "right_time"),
        lateness=(timedelta(milliseconds=left_ms), timedelta(milliseconds=right_ms)),
        **asked(settings),
    )
    return Outcome(
        matches=[matches_of(batch.results) for batch in done.batches],
        reports=[
            {name: int(counts_of(batch)[name]) for name in REPORTED}
            for batch in done.batches
        ],
        states=list(done.state_digests),
        results=done.results,
    )


def truth(case: Case) -> Outcome:
    """Ask the oracle."""
    batches = exact_join(
        case.batches,
        before_us=case.before_us,
        after_us=case.after_us,
        delays_ms=case.delays_ms,
    )
    return Outcome(
        matches=[Counter(match_of(*pair) for pair in batch.pairs) for batch in batches],
        reports=[
            {
                "seen_left": batch.seen_left,
                "seen_right": batch.seen_right,
                "late_left": batch.late_left,
                "late_right": batch.late_right,
                "matched": len(batch.pairs),
                "resident_left": batch.alive_left,
                "resident_right": batch.alive_right,
                "watermark_ms": batch.watermark_ms,
            }
            for batch in batches
        ],
    )


def differences(case: Case, expected: Outcome, found: Outcome) -> Iterator[str]:
    """Say in one line each where two runs of a case differ."""
    place = f"seed {case.seed}"
    if len(found.reports) != len(expected.reports):
        yield f"{place}: {len(found.reports)} batches, not {len(expected.reports)}"
        return
    for number in range(len(expected.reports)):
        want, got = expected.matches[number], found.matches[number]
        if want != got:
            missing, extra = list((want - got).items()), list((got - want).items())
            yield (
                f"{place} batch {number}: {len(missing)} missing {missing[:3]}, "
                f"{len(extra)} extra {extra[:3]}"
            )
        for name in REPORTED:
            wanted, had = expected.reports[number][name], found.reports[number][name]
            if wanted != had:
                yield f"{place} batch {number}: {name} is {had}, not {wanted}"
