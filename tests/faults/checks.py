"""What must hold after every attempt that the engine could commit."""

from __future__ import annotations

import pyarrow as pa

from .attempt import Given
from .engine import Shard
from .joins import Join, in_order, without_copies


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


def check_state(shard: Shard) -> None:
    """The committed state is that of the uninterrupted run, byte for byte."""
    state, expected = shard.stored.blobs, shard.join.states[shard.done - 1]
    if state != expected:
        raise WrongError(f"stored bytes differ: {_differing(state, expected)}")


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


def _differing(found: dict[int, bytes], expected: dict[int, bytes]) -> str:
    numbers = sorted(n for n in {*found, *expected} if found.get(n) != expected.get(n))
    text = f"blobs {numbers}"
    if found.get(-1) != expected.get(-1):
        text += f"; directory {found.get(-1)!r}, not {expected.get(-1)!r}"
    return text
