"""The star join of one shard with a budget: opens, restores and writes its state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shedjoin.columns.arrivals import Blob
from shedjoin.operators.budgeted.join import BudgetedJoin
from shedjoin.operators.budgeted.table import SlotTable
from shedjoin.operators.frame.join import Opening, Step
from shedjoin.operators.star.budgeted_step import budgeted_star_step
from shedjoin.operators.star.budgeted_store import BudgetedStarStore
from shedjoin.state.blobs import Commit
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload


class BudgetedStarJoin(BudgetedJoin):
    """Joins rows of two streams whose keys a relation connects, within a budget."""

    kind = "budgeted_star"
    store: BudgetedStarStore

    @classmethod
    def _store(
        cls, opening: Opening, table: SlotTable, payload: Payload, own: dict[str, Any]
    ) -> BudgetedStarStore:
        return BudgetedStarStore(opening, table, payload, own)

    @staticmethod
    def numbers(directory: Directory) -> list[int]:
        """Numbers of all blobs except the directory."""
        relation = directory.own["relation"]
        ends = [number for number, _, _ in relation["ends"]]
        return [*BudgetedJoin.numbers(directory), *relation["segments"], *ends]

    def step(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join the arrivals of a micro-batch, shed rows, and drop expired residents."""
        return budgeted_star_step(self.store, arrived, watermark_ms)

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write slot table, models and relation; return facts for the directory."""
        return super().write(changes) | {"relation": self.store.write_relation(changes)}
