"""The recall that a join reports, where it is known."""

from shedjoin.local.run import LocalBatch, Run
from shedjoin.spec.report import Report


def known(report: Report) -> float:
    """Give the recall; it has to be known."""
    assert report.recall is not None, report.recall_state
    return report.recall


def recalls(run: Run) -> list[float | None]:
    """Recall of each micro-batch, None where it is not known."""
    return [batch.report.recall for batch in run.batches]


def true_recall(found: LocalBatch, exact: LocalBatch) -> float:
    """The share of the exact results of a micro-batch that were found."""
    return found.report.matched / exact.report.matched
