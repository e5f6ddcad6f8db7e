"""States as a version of the library left them in checkpoints, and what follows.

``python -m state.goldens FORMAT`` in ``tests`` writes those of the present format,
once: later versions have to read them, and are never given new ones.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa

from shedjoin import Budget, MostImportant, Sample, Within, local
from shedjoin.columns.arrivals import Blob
from shedjoin.local.delivery import Delivery
from shedjoin.local.shard import LocalShard
from shedjoin.operators.frame.join import Outcome
from shedjoin.policies.goals import shedding_of
from shedjoin.spec.streams import JoinSpec
from support.specs import make_spec

DATA = Path(__file__).parent / "data"
BATCHES = 4
KINDS = ("exact", "budgeted", "sampled")
TIMES = ("shown_at", "clicked_at")


def spec_of(kind: str) -> JoinSpec:
    """The join of a golden state."""
    left, right = batches()[0]
    within = Within(after="15 minutes")
    names = ("_left", "_right")
    spec = make_spec((left.schema, right.schema), "ad_id", within, TIMES, 1, names)
    if kind == "exact":
        return spec
    keep = MostImportant("bid") if kind == "budgeted" else Sample()
    shedding = shedding_of(
        Budget(rows=200),
        keep,
        seed=3,
    )
    return spec.with_shedding(shedding)


def batches() -> list[tuple[pa.Table, pa.Table]]:
    """The stream; the state is that before its last micro-batch."""
    return local.clicks(impressions=600, batches=BATCHES, seed=5)


def arrivals(kind: str) -> list[list[Blob]]:
    """The blobs of every micro-batch."""
    importance = ("bid" if kind == "budgeted" else None, None)
    delivery = Delivery(importance=importance)
    spec = spec_of(kind)
    return [
        [blob for _, blob in delivery.deliver(tables, spec)] for tables in batches()
    ]


def watermark_ms(number: int) -> int:
    """A watermark that lets some rows expire."""
    shown = batches()[number][0]["shown_at"].cast(pa.int64())
    return int(shown.to_numpy().min()) // 1000 - 60_000


def last(shard: LocalShard, kind: str) -> list[list[object]]:
    """The results of the last micro-batch, from the stored state on."""
    shard.restart()
    outcome: Outcome = shard.run(arrivals(kind)[-1], watermark_ms(BATCHES - 1))
    rows = [
        [value.as_py() for value in row]
        for batch in outcome.results
        for row in zip(*batch.columns, strict=True)
    ]
    return json.loads(json.dumps(sorted(rows, key=str), default=str))  # type: ignore[no-any-return]


def write(form: int) -> None:
    """Write the states of the present format."""
    for kind in KINDS:
        shard = LocalShard(spec_of(kind), 0)
        for number, blobs in enumerate(arrivals(kind)[:-1]):
            shard.run(blobs, watermark_ms(number))
        folder = DATA / f"{kind}-{form}"
        folder.mkdir()
        for number, blob in shard.blobs.items():
            (folder / f"{number}.blob").write_bytes(blob)
        text = json.dumps(last(shard, kind), indent=1)
        (folder / "results.json").write_text(text + "\n")


if __name__ == "__main__":
    write(int(sys.argv[1]))
