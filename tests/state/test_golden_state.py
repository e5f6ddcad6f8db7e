"""Whole states of shards that an earlier version wrote are read and gone on from."""

import json

import pytest

from shedjoin.local.shard import LocalShard
from shedjoin.state.blobs import FACTS

from .goldens import DATA, KINDS, last, spec_of


@pytest.mark.parametrize("form", [4, 5, 6])
@pytest.mark.parametrize("kind", KINDS)
def test_a_state_is_read_and_gone_on_from(kind: str, form: int) -> None:
    folder = DATA / f"{kind}-{form}"
    shard = LocalShard(spec_of(kind), 0)
    for file in folder.glob("*.blob"):
        shard.blobs.put(int(file.stem), file.read_bytes())
    expected = json.loads((folder / "results.json").read_text())
    assert len(expected) > 10
    assert last(shard, kind) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_the_facts_of_the_join_are_stored(kind: str) -> None:
    """Nothing else of the state lies under their number."""
    stored = (DATA / f"{kind}-6" / f"{FACTS}.blob").read_text()
    assert stored == spec_of(kind).identity().facts
