"""What a join that sheds nothing lacks, because it went on from one that did."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

from shedjoin.operators.frame.join import Step
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.directory import Directory


class Missing(NamedTuple):
    """Whether anything was ever shed, and until when for the last time, if known."""

    shed: bool = False
    until_us: int | None = None

    @staticmethod
    def of(directory: Directory | None) -> Missing:
        """Read it from the directory of any kind of join."""
        own = {} if directory is None else directory.own
        return Missing(own.get("shed", False), own.get("shed_us"))

    def facts(self) -> dict[str, Any]:
        """Give what :meth:`of` reads."""
        if self.until_us is None:
            return {"shed": self.shed}
        return {"shed": self.shed, "shed_us": self.until_us}

    def told(self, step: Step, spec: JoinSpec, watermark_ms: int) -> Step:
        """Say that recall is not known, while what was shed could be matched.

        ``watermark_ms`` is that of the micro-batch before.
        """
        report = yield from step
        horizon_us = spec.all_expired_us(watermark_ms)
        if self.until_us is None or self.until_us <= horizon_us:
            return report
        return replace(report, slice_exact=inf, slice_matched=float(report.matched))


NOTHING = Missing()
