"""What online shedding misses: Greedy Max-Subset on whole archives."""

from __future__ import annotations

import pyarrow as pa

from experiments.charts import grid
from experiments.cpu_limited.correlations import (
    COSTS,
    KINDS,
    RATE,
    SHARES,
    WINDOW,
    rates,
)
from experiments.cpu_limited.runs import Setting, table
from experiments.part import Claim, Part, Point, Session, values, verdict
from shedjoin.lab import plan
from shedjoin.lab.offline import (
    Archive,
    MatchGraph,
    archived_matches,
    greedy_max_subset,
)
from shedjoin.lab.plan import JoinLoad, ValueLoad
from shedjoin.types import FloatArray

OFFLINE, ONLINE, COINS = "Greedy Max-Subset, offline", "Online Max-Subset", "CF"
STYLES = {
    OFFLINE: {"color": "#4c9a6a", "marker": "o"},
    ONLINE: {"color": "#c8553d", "marker": "^"},
    COINS: {"color": "#b8c4c9", "marker": "s"},
}


def measure(session: Session) -> list[Part]:
    seconds = 40.0 if session.quick else 120.0
    points = []
    for kind in session.each(KINDS, "section_3_1_baseline"):
        setting = rates(kind)
        graph = archived(setting, seconds)
        for share in SHARES:
            for name, recall in recalls(setting, graph, share).items():
                points.append(Point(kind, name, share, "recall", recall))
    part = Part(
        "section_3_1_baseline",
        "What online shedding misses (section 3.1)",
        "share",
        points,
    )
    part.claims = [_baseline(part)]
    part.figure = grid(
        points, styles=STYLES, x="share of the work", labels={"recall": "recall"}
    )
    return [part]


def archived(setting: Setting, seconds: float) -> MatchGraph:
    """All matches of two streams of that length."""
    left, right = (
        _archive(per_value, seconds, seed)
        for per_value, seed in ((setting.left, 5), (setting.right, 6))
    )
    return archived_matches(left, right, before=WINDOW, after=WINDOW)


def recalls(setting: Setting, graph: MatchGraph, share: float) -> dict[str, float]:
    """Recall with a share of the work: of an archive, and online with known rates."""
    load = ValueLoad(setting.left, setting.right, WINDOW, WINDOW)
    alike = float(load.results.sum()) / (2 * WINDOW * RATE**2)
    blind = JoinLoad(alike, RATE, RATE, WINDOW, WINDOW)
    work = share * float(load.work(COSTS).sum())
    offline = greedy_max_subset(share * graph.work(COSTS), graph, costs=COSTS)
    return {
        OFFLINE: offline.results / offline.kept.size,
        ONLINE: plan.online_max_subset(work, load, costs=COSTS).recall,
        COINS: plan.coin_flip(work, blind, costs=COSTS).recall,
    }


def _archive(per_value: FloatArray, seconds: float, seed: int) -> Archive:
    rows = table(per_value, seconds, 0, seed)
    return Archive(
        rows.column("value").to_numpy(),
        rows.column("time").cast(pa.int64()).to_numpy() / 1e6,
    )


def _baseline(part: Part) -> Claim:
    missed = {
        kind: [
            offline - online
            for offline, online in zip(
                values(part.points, panel=kind, series=OFFLINE),
                values(part.points, panel=kind, series=ONLINE),
                strict=True,
            )
        ]
        for kind in KINDS
    }
    told = "; ".join(
        f"{kind} {', '.join(f'{each:.3f}' for each in some)}"
        for kind, some in missed.items()
    )
    return Claim(
        "section 3.1",
        "the offline answer is a baseline for online strategies",
        "recall that Online Max-Subset with known rates lacks, at shares of 0.25, 0.5 "
        f"and 0.75: {told}",
        verdict(*(each > -0.02 for some in missed.values() for each in some)),
        "The graph charges every row that takes part. PNI charges only rows that it "
        "stores. So PNI by value, and Online Max-Subset with the last key that it "
        "admits, may find more.",
    )
