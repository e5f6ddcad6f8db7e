"""What must hold after every attempt that the engine could commit."""

from __future__ import annotations

import hashlib
import os
import shutil

import pyarrow as pa

from .attempt import FRAMES, Given
from .engine import Shard
from .joins import Join, in_order, without_copies, without_identity
from .node import Node
from .schedule import Attempt
from .streams import BATCHES

STRICT = os.environ.get("FAULT_BYTES", str(int(FRAMES))) == "1"
"""Whether stored bytes must be those of the uninterrupted run, not only the rows."""


class WrongError(AssertionError):
    """A row, a count or a state that the uninterrupted run does not have."""


def check_given(given: Given, join: Join, number: int) -> None:
    """The rows of a micro-batch as a multiset, and its counts."""
    wrong = _wrong(given, join, number)
    if wrong:
        raise WrongError(wrong)


def check_timers(shard: Shard) -> None:
    """A shard wakes when the watermark moves, and not otherwise."""
    expected = {shard.join.watermarks_ms[shard.done - 1] + 1}
    if shard.stored.timers != expected:
        raise WrongError(f"timers are {shard.stored.timers}, not {expected}")


def check_state(shard: Shard, fresh: Node, *, strict: bool) -> None:
    """The committed state is that of the uninterrupted run.

    Its bytes are, but for the identity of who wrote them; or else, if that is not
    asked for, a node without copies goes on from them with the right rows.
    """
    join, number = shard.join, shard.done - 1
    state = without_identity(shard.stored.blobs)
    if state == join.states[number]:
        return
    if strict:
        raise WrongError(
            f"stored bytes differ: {_differing(state, join.states[number])}"
        )
    known = number, hashlib.sha256(repr(sorted(state.items())).encode()).hexdigest()
    if known not in join.accepted:
        _check_restored(shard, fresh)
        join.accepted.add(known)


def _check_restored(shard: Shard, fresh: Node) -> None:
    copy = Shard(shard.join, shard.name, shard.stored.copied(), shard.done)
    for number in range(shard.done, BATCHES):
        running = copy.start(fresh, Attempt(), serial=0)
        wrong = (
            _wrong(running.given, shard.join, number) if running.ended else running.told
        )
        if wrong:
            text = f"the state of micro-batch {shard.done - 1}{shard.name}, restored on"
            raise WrongError(f"{text} a fresh node, gives in {number} {wrong}")
        copy.commit(running)
    shutil.rmtree(fresh.root, ignore_errors=True)


def _wrong(given: Given, join: Join, number: int) -> str:
    """What is wrong with a micro-batch in one line; nothing if nothing is."""
    expected = join.results[number]
    schema = given.rows[0].schema if given.rows else expected.schema
    found = pa.Table.from_batches(given.rows, schema).cast(expected.schema)
    found = in_order(found)
    if not found.equals(expected):
        return f"wrong rows: {_difference(found, expected)}"
    wanted, counts = join.counts[number], without_copies(given.counts)
    wrong = [
        f"{name} is {counts[name]}, not {wanted[name]}"
        for name in wanted
        if counts[name] != wanted[name]
    ]
    return f"wrong counts: {', '.join(wrong)}" if wrong else ""


def _difference(found: pa.Table, expected: pa.Table) -> str:
    rows = [
        {tuple(map(str, row.values())) for row in table.to_pylist()}
        for table in (found, expected)
    ]
    extra, missing = sorted(rows[0] - rows[1]), sorted(rows[1] - rows[0])
    return (
        f"{found.num_rows} rows, not {expected.num_rows}; {len(extra)} are extra, "
        f"such as {extra[:1]}; {len(missing)} are missing, such as {missing[:1]}"
    )


def _differing(found: dict[int, object], expected: dict[int, object]) -> str:
    numbers = sorted(n for n in {*found, *expected} if found.get(n) != expected.get(n))
    text = f"blobs {numbers}"
    if found.get(-1) != expected.get(-1):
        text += f"; directory {found.get(-1)}, not {expected.get(-1)}"
    return text
