"""Whether results of a shard are missing, and whether it is known how many.

A row that was shed may be missed until the watermark proves that nothing can match it
any more. Until then the recall is an estimate, or unknown. All joins keep track of that
here.
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
    """Results that were found, and estimates of those that were missed.

    ``so_far`` has the variances of all that was ever missed. ``off`` and
    ``importance_off`` are standard deviations of what is missed in this micro-batch
    because of errors that are the same in all micro-batches. Such standard deviations
    are added up.
    """

    results: float
    importance: float
    missed: Missed = Missed()
    so_far: Missed = Missed()
    off: float = 0.0
    importance_off: float = 0.0


NOTHING = Measured(0.0, 0.0)


class Completeness:
    """Keeps track of what was shed, and sums up what was missed.

    Parameters
    ----------
    facts : dict, optional
        What :meth:`facts` returned when it was stored.
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
        """Read the facts from the directory of any kind of join."""
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
        """Begin a micro-batch; rows up to the horizon cannot be matched any more."""
        self._untold = {
            reason: until
            for reason, until in self._untold.items()
            if until > horizon_us
        }
        self._was_complete = not self.shed
        if self._shed_us is not None:
            self._was_complete = self._shed_us <= horizon_us

    def note_came(self, latest_us: int) -> None:
        """Note that rows up to this time have come."""
        self._came_us = max(self._came_us, latest_us)

    def note_shed_of_all(self, clock_us: int) -> None:
        """Note that any rows so far may have been shed, or may not all have met.

        The clock may be behind these rows, because it follows the slower stream.
        """
        self.note_shed(max(clock_us, self._came_us))

    def note_shed(self, until_us: int) -> None:
        """Note that rows up to this time were shed, or did not all meet."""
        self._shed_us = max(until_us, self._shed_us or until_us)

    def note_untold(self, reason: int, until_us: int) -> None:
        """Note that it is unknown what rows up to this time have missed, and why."""
        before = self._untold.get(str(reason), until_us)
        self._untold[str(reason)] = max(until_us, before)

    def note_before(self, latest_us: int) -> None:
        """Note that results missed by rows that were shed before are not counted.

        If it is unknown when these rows were shed, it may have been up to
        ``latest_us``.
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
        """Run a step that sheds nothing, and report what is known of its recall."""
        self.begin(horizon_us)
        yield from step
        report = step.report
        measured = Measured(report.matched, report.importance)
        reason = OTHER_BUDGET if self.lacks else EXACT
        return self.told(report, measured, skips=False, reason=reason)

    def told(
        self, report: Report, measured: Measured, *, skips: bool, reason: int = EXACT
    ) -> Report:
        """Add to a report what is known of the recall of its micro-batch.

        ``skips`` says whether the micro-batch leaves something out. If it is unknown
        what that has missed, ``reason`` says why. What is left out for longer was noted
        before.
        """
        self.shed = self.shed or any(report.shed)
        self._was_complete = self._was_complete and not skips
        code = ESTIMATED
        # If no rows come, nothing is missed.
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
