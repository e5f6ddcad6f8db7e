"""Small streams, and how each feature of the capability table is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin import (
    Budget,
    Cells,
    Every,
    MostImportant,
    MostResults,
    Sample,
    Within,
    policies,
)
from shedjoin.spec.capabilities.kinds import Feature

ROWS, PARTS, KEYS, SECONDS = 120, 3, 6, 30
MEMORY, TIME = Budget(rows=30), Budget(cpu=0.5)
BOTH = Budget(rows=30, cpu=0.5)


def stream(seed: int, key: str = "k", value: str = "v") -> list[pa.Table]:
    rng = np.random.default_rng(seed)
    time = np.sort(rng.integers(0, SECONDS * 1_000_000, ROWS))
    table = pa.table(
        {
            "at": pa.array(time, pa.timestamp("us")),
            key: rng.integers(0, KEYS, ROWS),
            value: rng.random(ROWS),
        }
    )
    cut = ROWS // PARTS
    return [table.slice(part * cut, cut) for part in range(PARTS)]


RELATION = pa.table(
    {"k": np.arange(KEYS), "r": np.arange(KEYS), "told": np.arange(KEYS) % 3}
)
PAIR: dict[str, Any] = {
    "within": Within(before="5 seconds", after="5 seconds"),
    "time": ("at", "at"),
}
SAVING = policies.ProbeNoInsert()
HARVEST = policies.Harvest()
CALLED: dict[Feature, dict[str, Any]] = {
    Feature.EXACT: {},
    Feature.OUTER: {"how": "left"},
    Feature.OUTER_KEPT: {"how": "left", "budget": MEMORY},
    Feature.RELATION_COLUMNS: {"columns": ["told"]},
    Feature.RELATION_COLUMNS_KEPT: {"columns": ["told"], "budget": MEMORY},
    Feature.CELLS: {"cells": Cells([0.25, 0.5])},
    Feature.CONTROL: {"control": {1: [{"budget": {"rows": 20}}]}},
    Feature.MEMORY: {"budget": MEMORY},
    Feature.TIME: {"budget": TIME},
    Feature.MEMORY_AND_TIME: {"budget": BOTH},
    Feature.RECALL: {"budget": Budget(rows=30, recall=0.9)},
    Feature.RECALL_UNFORESEEN: {
        "budget": Budget(rows=30, recall=0.9),
        "keep": policies.IJoin(),
    },
    Feature.KEEP_SCORES: {"budget": MEMORY, "keep": MostResults()},
    Feature.KEEP_VALUED: {"budget": MEMORY, "keep": MostImportant("v")},
    Feature.KEEP_PAIRS: {"budget": MEMORY, "keep": policies.IJoin()},
    Feature.KEEP_SAMPLE: {"budget": MEMORY, "keep": Sample()},
    Feature.KEEP_SAVING: {"budget": MEMORY, "keep": SAVING},
    Feature.KEEP_HARVESTING: {"budget": MEMORY, "keep": HARVEST},
    Feature.SPEND_SCORES: {"budget": TIME, "keep": policies.Prob()},
    Feature.SPEND_VALUED: {"budget": TIME, "keep": MostImportant("v")},
    Feature.SPEND_PAIRS: {"budget": TIME, "keep": policies.Dgl()},
    Feature.SPEND_SAMPLE: {"budget": TIME, "keep": Sample()},
    Feature.SPEND_SAVING: {"budget": TIME, "keep": SAVING},
    Feature.SPEND_HARVESTING: {"budget": TIME, "keep": HARVEST},
    Feature.DISCIPLINE: {"budget": MEMORY, "discipline": "shed_then_probe"},
    Feature.DISCIPLINE_OF_SAMPLE: {
        "budget": MEMORY,
        "keep": Sample(),
        "discipline": "shed_then_probe",
    },
    Feature.RECOMPUTE: {"budget": MEMORY, "recompute": Every(10)},
}
"""How a feature is asked for. Those that are missing are asked for on Spark alone, or
by a message, which is noted and not refused."""
ON_SPARK = {
    Feature.EVENT_TIME,
    Feature.CONTROL_OF_TABLES,
    Feature.TIME_OF_TABLES,
    Feature.NEW_IMPORTANCE,
}
