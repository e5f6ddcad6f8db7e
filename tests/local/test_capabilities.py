"""Every cell of the capability table: it runs, or the call says why it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import (
    Band,
    Budget,
    Cells,
    Every,
    MostImportant,
    MostResults,
    Sample,
    Where,
    Within,
    local,
    policies,
)
from shedjoin.errors import ParameterError
from shedjoin.local.run import Run
from shedjoin.spec.capabilities.kinds import By, Feature, JoinKind, Unsupported
from shedjoin.spec.capabilities.table import TABLE, check_combination
from support.asked import asked as gathered
from support.related import relation_join, star_join

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


def by_key(asked: dict[str, Any]) -> Run:
    return local.join(
        zip(stream(1), stream(2, value="w"), strict=True),
        on="k",
        **gathered({**PAIR, **asked}),
    )


def by_predicates(asked: dict[str, Any]) -> Run:
    on = Band("v", 0.1) if "cells" in asked else ["k", Band("v", 0.3)]
    return local.join(
        zip(stream(1), stream(2), strict=True), on=on, **gathered({**PAIR, **asked})
    )


def several(on: object) -> Callable[..., Run]:
    def run(asked: dict[str, Any]) -> Run:
        parts = zip(*map(stream, (1, 2, 3)), strict=True)
        batches = [dict(zip("abc", tables, strict=True)) for tables in parts]
        predicate = Band("v", 0.1) if "cells" in asked else on
        chosen: Any = on if on == "k" else predicate
        time = dict.fromkeys("abc", "at")
        return local.multijoin(
            batches, on=chosen, within="5 seconds", time=time, **gathered(asked)
        )

    return run


def through(asked: dict[str, Any]) -> Run:
    batches = zip(stream(1), stream(2, key="r", value="w"), strict=True)
    on = (("k", "k"), ("r", "r"))
    return star_join(batches, RELATION, on=on, **gathered({**PAIR, **asked}))


def lookup(asked: dict[str, Any]) -> Run:
    return relation_join(
        [(each,) for each in stream(1)], RELATION, on="k", time="at", **gathered(asked)
    )


CALLS: dict[JoinKind, Callable[..., Run]] = {
    JoinKind.KEYS: by_key,
    JoinKind.PREDICATES: by_predicates,
    JoinKind.SEVERAL_KEYS: several("k"),
    JoinKind.SEVERAL_PREDICATES: several(["k", Where("a.v", "<", "b.v")]),
    JoinKind.THROUGH: through,
    JoinKind.LOOKUP: lookup,
}
SAVING = policies.ProbeNoInsert()
HARVEST = policies.Harvest()
CALLED: dict[Feature, dict[str, Any]] = {
    Feature.EXACT: {},
    Feature.OUTER: {"how": "left"},
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
ALL = [(kind, feature) for feature in CALLED for kind in JoinKind]


def test_the_table_is_whole() -> None:
    assert set(TABLE) == set(Feature) == set(CALLED) | ON_SPARK
    assert all(set(row) == set(JoinKind) for row in TABLE.values())


@pytest.mark.parametrize(("kind", "feature"), ALL, ids=lambda each: each.name)
def test_a_cell(kind: JoinKind, feature: Feature) -> None:
    cell, call, asked = TABLE[feature][kind], CALLS[kind], CALLED[feature]
    if isinstance(cell, By):
        run = call(asked)
        assert run.report.matched > 0
        return
    with pytest.raises((ParameterError, TypeError)) as refused:
        call(asked)
    if isinstance(refused.value, ParameterError):
        reasons = [each[kind] for each in TABLE.values()]
        assert any(
            refused.value.problem.endswith(each.reason)
            and refused.value.fix == each.fix
            for each in reasons
            if isinstance(each, Unsupported)
        )
    else:  # the call has no such argument
        assert "unexpected keyword argument" in str(refused.value)
    with pytest.raises(ParameterError) as checked:
        check_combination(kind, [(feature, "what was given")])
    assert checked.value.problem == f"what was given {cell.reason}"


def test_the_message_has_what_was_given() -> None:
    with pytest.raises(ParameterError, match=r"^keep=Sample\(.*\) draws a sample"):
        several("k")({"budget": MEMORY, "keep": Sample()})
    with pytest.raises(ParameterError, match=r"^how='leftouter' asks for rows without"):
        by_key({"how": "leftouter"})
    with pytest.raises(ParameterError, match=r"^discipline='shed_then_probe' leaves"):
        by_key({**CALLED[Feature.DISCIPLINE_OF_SAMPLE]})
