"""Parts of a micro-batch and chunks of payload: what is in memory is bounded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, Within
from shedjoin.columns.arrivals import Blob
from shedjoin.columns.packing import pack
from shedjoin.operators.budgeted import rewriting
from shedjoin.operators.frame import ordered
from shedjoin.operators.frame.ordered import Timely
from shedjoin.policies import Fifo
from shedjoin.policies.goals import shedding_of
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.payload import Payload, places
from shedjoin.state.workspace import MemoryWorkspace
from support.sides import SIDES
from support.specs import make_spec

TIME = pa.timestamp("us", "UTC")
START_US = 1_700_000_000_000_000
RIGHT = pa.schema([("key", pa.int64()), ("r_time", TIME)])


def rows(first: int, texts: list[str], late: int = 0) -> pa.Table:
    time = START_US + np.arange(first, first + len(texts))
    time[:late] = 5
    return pa.table(
        {
            "key": np.arange(first, first + len(texts)),
            "l_time": pa.array(time, TIME),
            "text": texts,
        }
    )


@pytest.fixture
def spec() -> JoinSpec:
    schemas = rows(0, [""]).schema, RIGHT
    times = ("l_time", "r_time")
    made = make_spec(schemas, "key", Within(after="1 hour"), times, 1, ("_l", "_r"))
    return made.with_shedding(shedding_of(Budget(rows=1000), Fifo()))


def packed(table: pa.Table, spec: JoinSpec) -> Iterator[Blob]:
    return (blob for _, blob in pack(table.to_batches(), 0, spec))


def test_large_rows_that_stand_together(
    spec: JoinSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many small rows and then some large ones: no part is much above the limit."""
    monkeypatch.setattr(ordered, "PART_BYTES", 1 << 16)
    texts = ["s"] * 20_000 + [f"{n:09d}" * 1000 for n in range(60)]
    blobs = list(packed(rows(0, texts), spec))
    parts = list(Timely(blobs, spec, 1000).parts())
    assert max(part.rows[0].nbytes for part in parts) < 1.3 * (1 << 16)
    keys = np.concatenate([part.key for part in parts])
    assert keys.tolist() == list(range(len(texts)))
    found = [text for part in parts for text in part.rows[0]["text"].to_pylist()]
    assert found == texts


def test_late_rows_leave_the_others_where_they_are(spec: JoinSpec) -> None:
    blobs = [
        Blob(blob.stream, blob.digest, pa.py_buffer(blob.payload).to_pybytes())
        for number in range(40)
        for blob in packed(rows(1200 * number, ["x" * 400] * 1200, late=2), spec)
    ]
    before = pa.total_allocated_bytes()
    arrivals = Timely(blobs, spec, 1000)
    assert pa.total_allocated_bytes() - before < 1 << 20
    assert arrivals.seen == [40 * 1200, 0]
    assert arrivals.taken == [40 * 1198, 0]
    keys = np.concatenate([part.key for part in arrivals.parts()])
    assert keys.tolist() == [n for n in range(40 * 1200) if n % 1200 >= 2]


def test_payload_is_rewritten_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of which little lives come together, but not all into one."""
    monkeypatch.setattr(rewriting, "CHUNK_BYTES", 1 << 16)
    own = Payload(MemoryWorkspace())
    batches = [pa.record_batch({"n": np.arange(k, k + 4000)}) for k in range(30)]
    sides = SIDES * 15
    place = np.concatenate([places(own.add(sides[k], batches[k])) for k in range(30)])
    stay = np.flatnonzero(np.arange(place.size) % 5 < 2)
    moved = rewriting.tidy(own, place[stay], None, None)
    assert len(own.segments) == 6
    assert max(segment.bytes for segment in own.segments.values()) < 2.5 * (1 << 16)
    values = np.empty(stay.size, np.int64)
    for found, hit, at in own.by_place(moved):
        values[at] = found["n"].to_numpy()[hit]
    expected = np.concatenate([batch["n"].to_numpy() for batch in batches])[stay]
    assert values.tolist() == expected.tolist()
