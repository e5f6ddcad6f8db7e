"""A step gives the same batches whether its state was restored or went on in memory.

Where the files of a node fail in the middle of a micro-batch, the step is done again on
restored state, and as many batches are passed over as were given out.
"""

from collections import Counter
from random import Random

import pyarrow as pa
import pytest

from shedjoin.local.shard import LocalShard
from shedjoin.operators.frame import results
from shedjoin.spec.keys import OutputColumn
from shedjoin.spec.streams import JoinSpec, StreamSpec
from support.shards import SCHEMA, Arrival, blob_of

NAMES = "abcd"
SECOND, KEYS = 1_000_000, 150


def spec_of(streams: int) -> JoinSpec:
    columns = tuple((field.name, str(field.type)) for field in SCHEMA)
    return JoinSpec(
        streams=tuple(
            StreamSpec(name, columns, ("key",), "time", 10_000 * SECOND)
            for name in NAMES[:streams]
        ),
        shards=1,
        direct=True,
        output=tuple(OutputColumn(n, "id", f"id_{n}") for n in range(streams)),
    )


def contents(batches: list[pa.RecordBatch]) -> list[Counter[tuple[object, ...]]]:
    return [
        Counter(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        for batch in batches
    ]


@pytest.mark.parametrize("room", [70, 200, 500])
@pytest.mark.parametrize("streams", [2, 3, 4])
def test_the_same_batches(
    streams: int, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "ROOM", room)
    random, spec = Random(streams), spec_of(streams)
    shards = LocalShard(spec, 0), LocalShard(spec, 0)
    number = 0

    def rows(count: int) -> list[Arrival]:
        nonlocal number
        number += count
        return [
            Arrival(random.randrange(KEYS), random.randrange(SECOND), number - n)
            for n in range(count)
        ]

    for _ in range(20):  # enough for segments to be merged
        arrived = [blob_of(n, rows(random.randint(1, 60))) for n in range(streams - 1)]
        for shard in shards:
            shard.run(arrived, 0)
    shards[1].restart()
    arrived = [blob_of(streams - 1, rows(400))]
    went_on, restored = (contents(shard.run(arrived, 0).results) for shard in shards)
    assert len(went_on) > 2
    assert went_on == restored
