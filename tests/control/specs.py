"""A join to steer."""

from __future__ import annotations

import pyarrow as pa

from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.window import Within
from support.specs import make_spec


def a_spec(shedding: Shedding | None) -> JoinSpec:
    time = pa.timestamp("us", "UTC")
    schemas = [
        pa.schema([("k", pa.int64()), (f"time{n}", time), (f"value{n}", pa.float64())])
        for n in (0, 1)
    ]
    within = Within(before="10 seconds", after="10 seconds")
    spec = make_spec(schemas, "k", within, ("time0", "time1"), 1, ("_l", "_r"))
    return spec.with_shedding(shedding)
