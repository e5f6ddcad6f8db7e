"""A finished run: results and counts of every micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from shedjoin.spec.report import Report


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
            resident=last.resident,
            relation=last.relation,
            segments=last.segments,
            state_bytes=last.state_bytes,
        )

    def __str__(self) -> str:
        report = self.report
        lines: list[tuple[str, Sequence[float]]] = [
            ("micro-batches", [len(self.batches)]),
            ("seen", report.seen),
            ("late", report.late),
            ("expired", report.expired),
            ("resident", report.resident),
            ("shed", report.shed),
            ("matched", [report.matched]),
            ("state bytes", [report.state_bytes]),
        ]
        if any(report.shed) or report.recall < 1:
            lines.append(("recall, est.", [round(report.recall, 3)]))
        return "\n".join(
            f"{name:<14}" + "".join(f"{count:>12}" for count in counts)
            for name, counts in lines
        )
