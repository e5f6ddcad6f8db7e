"""State in and out: what a micro-batch changed, and nothing else, is written."""

import pytest

from shedjoin.errors import StateMismatchError
from shedjoin.operators.choice import open_join
from shedjoin.operators.frame.join import (
    Join,
    Opening,
    Outcome,
    commit,
    stored_directory,
)
from shedjoin.state.blobs import DIRECTORY, Commit
from shedjoin.state.workspace import MemoryWorkspace
from support.shards import Arrival, blob_of, make_spec
from support.sides import LEFT, RIGHT

SPEC = make_spec(1000, 1000)


class Blobs(dict[int, bytes]):
    """Numbered blobs that note what is done to them."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, int]] = []

    def put(self, number: int, blob: bytes) -> None:
        self.calls.append(("put", number))
        self[number] = blob

    def remove(self, number: int) -> None:
        self.calls.append(("remove", number))
        del self[number]


def opened(blobs: Blobs) -> Join:
    """Open the join from what is stored."""
    directory = stored_directory(blobs, SPEC)
    return open_join(Opening(SPEC, 0, blobs, directory, MemoryWorkspace()))


def run(join: Join, blobs: Blobs, times: list[int], watermark_ms: int) -> int:
    """Join a left row of each time, commit, and return the bytes written."""
    rows = [Arrival(1, time, time) for time in times]
    Outcome.of(join.step([blob_of(LEFT, rows)] if rows else [], watermark_ms))
    blobs.calls.clear()
    _, written = commit(join, blobs, f"token {watermark_ms}")
    return written


def test_a_commit_writes_what_changed() -> None:
    blobs = Blobs()
    join = opened(blobs)
    written = run(join, blobs, [5000, 5001], 0)
    assert sorted(blobs.calls) == [("put", DIRECTORY), ("put", 0)]
    assert written == sum(map(len, blobs.values()))
    assert run(join, blobs, [9000], 1) == len(blobs[1]) + len(blobs[DIRECTORY])
    assert sorted(blobs.calls) == [("put", DIRECTORY), ("put", 1)]
    run(join, blobs, [], 7)  # the first segment expires
    assert sorted(blobs.calls) == [("put", DIRECTORY), ("remove", 0)]
    run(join, blobs, [], 8)
    assert blobs.calls == [("put", DIRECTORY)]
    assert blobs.keys() == {DIRECTORY, 1}


def test_restored_state_is_the_state() -> None:
    blobs = Blobs()
    join = opened(blobs)
    for number in range(20):
        run(join, blobs, [1000 * number, 1000 * number + 500], number)
    copy = opened(blobs)
    arrived = [blob_of(RIGHT, [Arrival(1, 19_100, 0)])]
    found = [Outcome.of(each.step(arrived, 19)).report.matched for each in (join, copy)]
    assert found == [3, 3]  # 18_500, 19_000 and 19_500
    states = [Blobs(), Blobs()]
    for each, state in zip((join, copy), states, strict=True):
        state.update(blobs)
        commit(each, state, "token")
    assert states[0] == states[1]
    assert states[0].calls == states[1].calls


def test_no_state_yet() -> None:
    assert stored_directory(Blobs(), SPEC) is None


def test_state_of_another_join() -> None:
    blobs = Blobs()
    commit(opened(blobs), blobs, "")
    with pytest.raises(
        StateMismatchError, match="rows of the left stream wait"
    ) as caught:
        stored_directory(blobs, make_spec(1000, 7))
    assert "checkpointLocation" in caught.value.fix


def test_a_segment_that_is_missing() -> None:
    blobs = Blobs()
    run(opened(blobs), blobs, [5000], 0)
    del blobs[0]
    with pytest.raises(StateMismatchError) as caught:
        opened(blobs)
    problem, fix = str(caught.value).split("\n")
    assert problem == "the checkpoint names blob 0 of a shard but lacks it."
    assert fix.startswith("Fix: restore the checkpoint from a backup")


def test_a_token_says_what_is_stored() -> None:
    """Whatever is written or removed, and what was there before, changes it."""

    def token(former: str, *writes: tuple[int, bytes | None]) -> str:
        blobs = Blobs()
        changes = Commit(blobs, former)
        for number, blob in writes:
            blobs.setdefault(number, b"")
            if blob is None:
                changes.remove(number)
            else:
                changes.put(number, blob)
        return changes.token(b"directory")

    tokens = [
        token("t"),
        token("u"),
        token("t", (0, b"a")),
        token("t", (1, b"a")),
        token("t", (0, b"b")),
        token("t", (0, b"a"), (1, b"b")),
        token("t", (0, b"ab")),
        token("t", (0, None)),
    ]
    assert len(set(tokens)) == len(tokens)
    assert token("t", (0, b"a")) == tokens[2]
