"""What a step gives: joined rows batch by batch, then counts."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from shedjoin.spec.report import Report

Step: TypeAlias = Generator[pa.RecordBatch, None, Report]
"""Gives joined rows batch by batch, then the counts; the store holds the rest."""


class Outcome(NamedTuple):
    """What a micro-batch gave, collected: joined rows and counts."""

    results: list[pa.RecordBatch]
    report: Report

    @staticmethod
    def of(step: Step) -> Outcome:
        """Do a whole step and collect what it gives."""
        results: list[pa.RecordBatch] = []
        while True:
            try:
                results.append(next(step))
            except StopIteration as end:
                return Outcome(results, end.value)
