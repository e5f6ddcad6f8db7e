"""A report as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shedjoin.spec.recall import EXACT, STATES, Recall
from shedjoin.spec.report import Report

_NAME, _COUNT = 22, 14
_BY_STREAM = "seen", "late", "expired", "resident", "shed"


def lines_of(
    report: Report,
    streams: Sequence[str],
    recall_at: Mapping[float, float] | None = None,
) -> list[str]:
    """Lines with the counts of each stream, and with the recall.

    ``recall_at`` is the recall to expect, by factor of the budget.
    """
    lines = [_line("rows", [*streams, "all"])]
    for name in _BY_STREAM:
        counts = getattr(report, name) or (0,) * len(streams)
        lines.append(_line(name, [*map(_whole, counts), _whole(sum(counts))]))
    lines.append(_line("results", [_whole(report.matched)]))
    lines.append(_line("state bytes", [_whole(report.state_bytes)]))
    if report.budget:
        lines.append(_line("budget in force", [_whole(report.budget)]))
    if report.budget and report.needed_bytes:
        lines.append(_line("needed rows", [_whole(report.needed_rows)]))
        lines.append(_line("needed bytes", [_whole(report.needed_bytes)]))
    if any(report.shed) or report.recall_state != STATES[EXACT]:
        lines += _recalls(report)
        lines += _others(recall_at or {})
    return lines


def _recalls(report: Report) -> list[str]:
    """Lines with the recall, and with the importance recall if it differs."""
    lines = [_known("recall", report.recall_so_far)]
    if report.so_far_importance != report.so_far_measured:
        lines.append(_known("importance recall", report.importance_recall_so_far))
    if report.recall_state.startswith("unknown"):
        lines.append(f"  {report.recall_state}")
    return lines


def _others(recall_at: Mapping[float, float]) -> list[str]:
    said = ", ".join(f"{told:.2f} with {at:g}x" for at, told in recall_at.items())
    return [f"{'recall to expect':<{_NAME}}  {said} the budget"] if said else []


def _known(name: str, recall: Recall) -> str:
    value, low, high = recall
    if value is None:
        return _line(name, ["unknown"])
    said = _line(name, [f"{value:.3f}"])
    return f"{said}  (95 % interval: {low:.3f} to {high:.3f})"


def _line(name: str, values: Sequence[str]) -> str:
    return f"{name:<{_NAME}}" + "".join(f"{value:>{_COUNT}}" for value in values)


def _whole(count: float) -> str:
    return f"{count:,.0f}"
