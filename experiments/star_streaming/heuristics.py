"""Star joins that shed by a policy of the operator, in the order of the paper."""

from __future__ import annotations

import pyarrow as pa

from shedjoin import Budget, MostImportant, Options, Relation, Successive, Within, local
from shedjoin.lab.offline import StarArchive
from shedjoin.policies import Policy
from shedjoin.spec.report import Report

_FIRST_S = 1_000_000


def shed(archive: StarArchive, policy: Policy, memory: int, window: int) -> Report:
    """What a policy finds, instant by instant, with windows of so many instants."""
    tables = [_timed(table) for table in (archive.left, archive.right)]
    within = f"{window - 1} seconds"
    run = local.join(
        [(tables[0], tables[1])],
        through=Relation(archive.relation, left="a", right="b"),
        within=Within(before=within, after=within),
        time=("time", "time"),
        budget=Budget(rows=memory, split=0.5),
        keep=MostImportant("importance", by=policy),
        options=Options(discipline="shed_then_probe", recompute=Successive()),
    )
    return run.report


def _timed(table: pa.Table) -> pa.Table:
    """Instants as seconds; a watermark of a micro-batch is not to be before them."""
    instant = table["time"].to_numpy() + _FIRST_S
    time = pa.array(1_000_000 * instant, pa.timestamp("us"))
    return table.set_column(table.schema.get_field_index("time"), "time", time)
