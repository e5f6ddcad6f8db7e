"""A log of changes gives back what was written, in few parts, however long it runs."""

import numpy as np
import pyarrow as pa
import pytest

from shedjoin.local.shard import MemoryBlobs
from shedjoin.state.blobs import Commit
from shedjoin.state.changes import ChangeLog

SIZE = 5000


def stored(log: ChangeLog, blobs: MemoryBlobs) -> dict[int, int]:
    """What a new owner of the blobs would read."""
    found: dict[int, int] = {}
    for part in ChangeLog(0, "at", log.parts).read(blobs):
        columns = part.to_pydict()
        found |= dict(zip(columns["at"], columns["word"], strict=True))
    return found


@pytest.mark.parametrize("changed", [1, 7, 300])
def test_what_was_written_is_read_in_few_parts(changed: int) -> None:
    rng = np.random.default_rng(changed)
    blobs, truth = MemoryBlobs(), dict.fromkeys(range(SIZE), -1)
    log, other = ChangeLog(0, "at"), ChangeLog(1, "at")
    written = 0
    first = pa.record_batch({"at": list(truth), "word": list(truth.values())})
    for number in range(600):
        changes = Commit(blobs, "")
        if number == 0:
            log.add(first, changes)
        at = rng.choice(SIZE, changed, replace=False)
        words = {int(place): number for place in at}
        entries = pa.record_batch({"at": list(words), "word": list(words.values())})
        truth |= words
        if log.is_long(len(words), len(truth)):
            log.forget(changes)
            whole = pa.record_batch({"at": list(truth), "word": list(truth.values())})
            log.add(whole, changes)
        else:
            log.add(entries, changes)
        other.add(entries, changes)
        written += changes.written_bytes if number else 0
        if number % 50 == 7:
            assert stored(log, blobs) == truth
        log = ChangeLog(0, "at", log.parts)  # as after a restart
    assert stored(log, blobs) == truth
    assert len(log.parts) <= 1 + 7 * 4
    kept = {part.number for part in (*log.parts, *other.parts)}
    assert {number for number, _ in blobs.items()} == kept
    assert written < 600 * (4_000 + 200 * changed)


def test_nothing_is_written_if_nothing_changed() -> None:
    log, blobs = ChangeLog(0, "at"), MemoryBlobs()
    log.add(pa.record_batch({"at": pa.array([], pa.int64())}), Commit(blobs, ""))
    assert not log.parts
    assert not list(blobs.items())
