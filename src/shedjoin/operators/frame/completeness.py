"""Whether results of a shard are missing, and whether their number can be estimated.

After a row was shed, results may be missing until the watermark shows that no arrival
can match the row any more. Until then, the recall is an estimate, or unknown. All kinds
of joins record in :class:`Completeness` how long this lasts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from shedjoin.models.meter import Missed
from shedjoin.operators.frame.join import Running, Step, as_step
from shedjoin.spec.recall import ESTIMATED, EXACT, OTHER_BUDGET
from shedjoin.spec.report import Report
from shedjoin.state.directory import Directory

_FACTS = "recall"
_NEVER = -(1 << 62)


class Measured(NamedTuple):
    """Results that a micro-batch found, and estimates of the results that it missed.

    ``so_far`` has the variances of all results missed since the start of the query.
    ``off`` and ``importance_off`` are standard deviations of the results missed in this
    micro-batch. They include only errors that are the same in all micro-batches. So for
    several micro-batches, these standard deviations are added up, not their squares.
    """

    results: float
    importance: float
    missed: Missed = Missed()
    so_far: Missed = Missed()
    off: float = 0.0
    importance_off: float = 0.0


NOTHING = Measured(0.0, 0.0)


class Completeness:
    """Records until when shed rows could match, and sums up the missed results.

    Parameters
    ----------
    facts : dict, optional
        What :meth:`facts` returned when the state was stored.
    """

    def __init__(self, facts: dict[str, Any] | None = None) -> None:
        facts = facts or {}
        self.shed: bool = facts.get("shed", False)
        """Whether anything was ever shed."""
        self._shed_us: int | None = facts.get("shed_us")
        self._came_us: int = facts.get("came_us", _NEVER)
        self._untold: dict[str, int] = dict(facts.get("untold", {}))
        self._so_far: list[float] = list(facts.get("so_far", [0.0] * 4))
        self._off: list[float] = list(facts.get("off", [0.0] * 2))
        self._was_complete = True

    @staticmethod
    def of(directory: Directory | None) -> Completeness:
        """Restore from the directory of any kind of join."""
        own = {} if directory is None else directory.own
        if _FACTS in own:
            return Completeness(own[_FACTS])
        # Formats up to 5 stored only these two facts.
        before = Completeness({"shed": own.get("shed", False)})
        if own.get("shed_us") is not None:
            before.note_shed(own["shed_us"])
        return before

    def facts(self) -> dict[str, Any]:
        """Facts to store, as a part of the directory."""
        return {
            _FACTS: {
                "shed": self.shed,
                "shed_us": self._shed_us,
                "came_us": self._came_us,
                "untold": self._untold,
                "so_far": self._so_far,
                "off": self._off,
            }
        }

    def begin(self, horizon_us: int) -> None:
        """Begin a micro-batch; rows with times up to ``horizon_us`` have expired."""
        self._untold = {
            reason: until
            for reason, until in self._untold.items()
            if until > horizon_us
        }
        self._was_complete = not self.shed
        if self._shed_us is not None:
            self._was_complete = self._shed_us <= horizon_us

    def note_came(self, latest_us: int) -> None:
        """Record the latest time of the rows that have come."""
        self._came_us = max(self._came_us, latest_us)

    def note_shed_of_all(self, clock_us: int) -> None:
        """Record that results may be missing for all rows that have come so far.

        Some of these rows may be later than the clock, because the clock is held back
        by the slower stream.
        """
        self.note_shed(max(clock_us, self._came_us))

    def note_shed(self, until_us: int) -> None:
        """Record that results are missing for rows with times up to ``until_us``.

        These rows were shed, or were not compared with all rows that they match.
        """
        self._shed_us = max(until_us, self._shed_us or until_us)

    def note_untold(self, reason: int, until_us: int) -> None:
        """Record that the missed results of rows up to a time cannot be estimated.

        ``reason`` is a code of ``shedjoin.spec.recall``.
        """
        before = self._untold.get(str(reason), until_us)
        self._untold[str(reason)] = max(until_us, before)

    def note_before(self, latest_us: int) -> None:
        """Record that no estimate covers the rows that another kind of join has shed.

        If the stored state does not contain the time up to which rows were shed,
        ``latest_us`` is used instead.
        """
        if self.shed:
            until = latest_us if self._shed_us is None else self._shed_us
            self.note_shed(until)
            self.note_untold(OTHER_BUDGET, until)

    @property
    def lacks(self) -> bool:
        """Whether rows that were shed before this micro-batch can still match."""
        return not self._was_complete

    @as_step
    def of_whole(self, step: Step, horizon_us: int) -> Running:
        """Run a step that sheds no rows, and add the recall to its report."""
        self.begin(horizon_us)
        yield from step
        report = step.report
        measured = Measured(report.matched, report.importance)
        reason = OTHER_BUDGET if self.lacks else EXACT
        return self.told(report, measured, skips=False, reason=reason)

    def told(
        self, report: Report, measured: Measured, *, skips: bool, reason: int = EXACT
    ) -> Report:
        """Add to a report the recall of the micro-batch, and the recall so far.

        ``skips`` says whether the micro-batch itself may miss results. If their number
        cannot be estimated, ``reason`` is the code of the reason. If shed rows could
        also match arrivals of later micro-batches, :meth:`note_shed` or
        :meth:`note_untold` must have been called before.
        """
        self.shed = self.shed or any(report.shed)
        self._was_complete = self._was_complete and not skips
        code = ESTIMATED
        # If no rows and no changes of a relation come, no results are missed.
        if self._was_complete or not (any(report.seen) or report.changes):
            code, measured = EXACT, _nothing_missed(measured)
        elif reason or self._untold:
            code = max(reason, *map(int, self._untold), EXACT)
            measured = _nothing_missed(measured)._replace(results=0.0, importance=0.0)
        found, missed = measured, measured.missed
        added = found.results, found.importance, missed.results, missed.importance
        self._so_far = [a + b for a, b in zip(self._so_far, added, strict=True)]
        results, importance, missed_results, missed_importance = self._so_far
        off = found.off, found.importance_off
        self._off = [a + b for a, b in zip(self._off, off, strict=True)]
        so_far_off, so_far_importance_off = self._off
        return replace(
            report,
            recall_code=code,
            measured=found.results,
            measured_importance=found.importance,
            missed=missed.results,
            missed_variance=missed.variance + found.off**2,
            missed_importance=missed.importance,
            missed_importance_variance=missed.importance_variance
            + found.importance_off**2,
            so_far_measured=results,
            so_far_importance=importance,
            so_far_missed=missed_results,
            so_far_variance=found.so_far.variance + so_far_off**2,
            so_far_missed_importance=missed_importance,
            so_far_importance_variance=found.so_far.importance_variance
            + so_far_importance_off**2,
        )


def _nothing_missed(measured: Measured) -> Measured:
    return measured._replace(missed=Missed(), off=0.0, importance_off=0.0)
