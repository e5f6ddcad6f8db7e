"""A checked join of two tables, as operators take it."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from shedjoin.local.tables import stream_of
from shedjoin.request.spec import Asked, join_spec
from shedjoin.spec.keys import SIDES
from shedjoin.spec.streams import JoinSpec


def make_spec(
    schemas: Sequence[pa.Schema],
    on: object,
    within: object,
    time: object,
    shards: int,
    suffixes: object,
) -> JoinSpec:
    """Join tables of these columns."""
    asked = Asked(on=on, within=within, time=time, suffixes=suffixes)
    return join_spec([*map(stream_of, schemas, SIDES)], asked, shards)
