"""What must hold after every attempt that the engine could commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa

from .attempt import Given
from .engine import Shard
from .joins import Join
from .uninterrupted import without_copies


class WrongError(AssertionError):
    """A row, a count or a state that the uninterrupted run does not have."""


def check_given(given: Given, join: Join, number: int) -> None:
    """The rows of a micro-batch as a multiset, its counts and its record."""
    wrong = _wrong(given, join, number)
    if wrong:
        raise WrongError(wrong)


def check_copies(given: Given) -> None:
    """An attempt whose files nothing touched works on them to its end."""
    if given.counts["copy_fallbacks"]:
        raise WrongError("an attempt does without its copy of the state")


def check_timers(shard: Shard) -> None:
    """A shard wakes when the watermark moves, and not otherwise."""
    expected = {shard.join.batches[shard.done - 1].watermark_ms + 1}
    if shard.stored.timers != expected:
        raise WrongError(f"timers are {shard.stored.timers}, not {expected}")


def check_state(shard: Shard) -> None:
    """The committed state is that of the uninterrupted run, byte for byte."""
    state, expected = shard.stored.blobs, shard.join.batches[shard.done - 1].state
    if state != expected:
        raise WrongError(f"stored bytes differ: {_differing(state, expected)}")


def _wrong(given: Given, join: Join, number: int) -> str:
    """What is wrong with a micro-batch in one line; nothing if nothing is."""
    batch = join.batches[number]
    found, expected = in_order(given.rows), in_order(batch.results)
    if not found.equals(expected):
        return f"wrong rows: {_difference(found, expected)}"
    wanted, counts = batch.counts, without_copies(given.counts)
    wrong = [
        f"{name} is {counts[name]}, not {wanted[name]}"
        for name in wanted
        if counts[name] != wanted[name]
    ]
    if wrong:
        return f"wrong counts: {', '.join(wrong)}"
    records = [batch.record] if join.query.steered else []
    if given.records != records:
        return f"wrong records: {given.records}, not {records}"
    return ""


def in_order(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Joined rows, sorted by all of their columns."""
    whole = [batch for batch in batches if batch.num_rows]
    if not whole:
        return pa.table({})
    rows = pa.Table.from_batches(whole)
    return rows.sort_by([(name, "ascending") for name in rows.column_names])


def _difference(found: pa.Table, expected: pa.Table) -> str:
    rows = [
        Counter(tuple(map(str, row.values())) for row in table.to_pylist())
        for table in (found, expected)
    ]
    extra = sorted((rows[0] - rows[1]).elements())
    missing = sorted((rows[1] - rows[0]).elements())
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
