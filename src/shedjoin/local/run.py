"""A finished run: results and counts of every micro-batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile

import pyarrow as pa

from shedjoin.spec.report import SO_FAR, Report
from shedjoin.spec.report_text import lines_of


@dataclass(frozen=True, slots=True)
class LocalBatch:
    """Results and report of one micro-batch."""

    results: pa.Table
    report: Report


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its micro-batches and a digest of the state after each."""

    batches: list[LocalBatch]
    state_digests: list[bytes]
    streams: tuple[str, ...] = ()

    @property
    def results(self) -> pa.Table:
        """The joined rows of all micro-batches."""
        tables = [batch.results for batch in self.batches]
        return pa.concat_tables(tables) if tables else pa.table({})

    @property
    def report(self) -> Report:
        """Counts of the whole run. Residents, budget and needs are those at its end.

        ``recall_at`` of the report is None, since the budget may have changed. See
        :attr:`recall_at`.
        """
        reports = [batch.report for batch in self.batches]
        last = reports[-1] if reports else Report()
        return replace(
            sum(reports, Report()),
            resident=last.resident,
            relation=last.relation,
            segments=last.segments,
            budget=last.budget,
            expected_of=0.0,
            needed_rows=last.needed_rows,
            needed_bytes=last.needed_bytes,
            state_bytes=last.state_bytes,
            missed_variance=last.so_far_variance,
            missed_importance_variance=last.so_far_importance_variance,
            **{name: getattr(last, name) for name in SO_FAR},
        )

    @property
    def recall_at(self) -> dict[float, float] | None:
        """Recall to expect, by factor of the last budget.

        It is computed from the micro-batches since the last change of the budget, as
        far as their ``recall_at`` is known.
        """
        reports = [batch.report for batch in reversed(self.batches)]
        same = takewhile(lambda report: report.budget == reports[0].budget, reports)
        known = (report for report in same if report.recall_at is not None)
        return sum(known, Report()).recall_at

    def __str__(self) -> str:
        batches = f"{len(self.batches):,} micro-batches"
        lines = lines_of(self.report, self.streams, self.recall_at)
        return "\n".join([batches, *lines])
