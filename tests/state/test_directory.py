"""State as bytes: what goes in comes out, and wrong state is refused."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.columns.ipc import decode_batch, decode_rows, encode_rows
from shedjoin.errors import StateMismatchError
from shedjoin.spec.identity import Identity
from shedjoin.state import directory as module
from shedjoin.state.directory import (
    Directory,
    decode_directory,
    encode_directory,
    with_token,
)
from shedjoin.state.segments import Segment

DATA = Path(__file__).parent / "data"
PRINT = Identity("print")


def nothing() -> None:
    """The facts of a state of before format 6."""


NOON = datetime(2024, 2, 29, 12, 0, 0, 123456, UTC)
STRUCT = pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])

VALUES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int8(), [-128, None, 127]),
    (pa.int16(), [-(2**15), None, 0]),
    (pa.int32(), [2**31 - 1, None, -1]),
    (pa.int64(), [-(2**63), None, 2**63 - 1]),
    (pa.uint64(), [2**64 - 1, None, 0]),
    (pa.float32(), [1.5, None, float("-inf")]),
    (pa.float64(), [-0.0, None, 1e-300]),
    (pa.bool_(), [True, None, False]),
    (pa.string(), ["", None, "\u00e9\U0001f40d\0"]),
    (pa.large_string(), ["a" * 1000, None, "b"]),
    (pa.binary(), [b"", None, b"\0\xff"]),
    (pa.binary(2), [b"ab", None, b"cd"]),
    (pa.date32(), [date(1, 1, 1), None, date(9999, 12, 31)]),
    (pa.timestamp("us"), [datetime(1970, 1, 1), None, datetime(1, 1, 1)]),  # noqa: DTZ001
    (pa.timestamp("us", "UTC"), [NOON, None, NOON.replace(year=1804)]),
    (pa.timestamp("ns", "Europe/Oslo"), [NOON, None, NOON]),
    (pa.decimal128(38, 18), [Decimal("-0.000000000000000001"), None, Decimal(10**19)]),
    (pa.duration("us"), [-5, None, 5]),
    (pa.null(), [None, None, None]),
    (pa.list_(pa.int64()), [[], None, [1, None, 3]]),
    (pa.list_(STRUCT), [[{"x": 1, "y": ["a", None]}, None], None, []]),
    (STRUCT, [{"x": None, "y": []}, None, {"x": 2, "y": None}]),
    (pa.map_(pa.string(), pa.int64()), [[("a", 1), ("b", None)], None, []]),
    (pa.map_(pa.string(), STRUCT), [[("a", {"x": 1, "y": ["z"]})], None, []]),
    (pa.dictionary(pa.int32(), pa.string()), ["a", None, "a"]),
]
EVERYTHING = pa.record_batch(
    [pa.array(values, kind) for kind, values in VALUES],
    names=[f"{place} {kind}" for place, (kind, _) in enumerate(VALUES)],
)

int64s = st.integers(-(2**63), 2**63 - 1)
directories = st.builds(
    Directory,
    segments=st.lists(st.builds(Segment, *[int64s] * 4), max_size=5).map(tuple),
    next_id=int64s,
    watermark_ms=int64s,
    token=st.text("0123456789abcdef", min_size=64, max_size=64),
    kind=st.text(),
    own=st.dictionaries(st.text(), st.lists(int64s) | int64s | st.none()),
    control=st.dictionaries(st.text(), st.lists(int64s) | st.text()),
)
EMPTY = Directory((), next_id=0, watermark_ms=0, kind="exact", own={})


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(("start", "length"), [(0, 3), (1, 2), (2, 1), (1, 1), (3, 0)])
def test_segment_round_trip(start: int, length: int, stored: bool) -> None:
    rows = EVERYTHING.slice(start, length)
    found = decode_batch(encode_rows([rows], rows.schema, stored=stored))
    found.validate(full=True)
    assert found.schema.equals(rows.schema, check_metadata=True)
    assert found.equals(rows)


def test_bytes_will_do() -> None:
    blob = encode_rows([EVERYTHING], EVERYTHING.schema, stored=True).to_pybytes()
    assert isinstance(blob, bytes)
    assert decode_batch(blob).equals(EVERYTHING)


def test_batches_keep_their_order() -> None:
    parts = [EVERYTHING.slice(2), EVERYTHING.slice(0, 1), EVERYTHING.slice(0, 2)]
    found = list(decode_rows(encode_rows(parts, EVERYTHING.schema)))
    assert [batch.num_rows for batch in found] == [1, 1, 2]
    assert all(a.equals(b) for a, b in zip(found, parts, strict=True))


def test_a_segment_holds_its_own_rows_only() -> None:
    long = pa.record_batch({"text": [f"{n:0>100}" for n in range(10_000)]})
    part = long.slice(5000, 10)
    assert encode_rows([part], part.schema, stored=True).size < 4000


def test_stored_rows_are_compressed() -> None:
    rows = pa.record_batch({"text": ["the same text over and over"] * 1000})
    plain = encode_rows([rows], rows.schema).size
    assert encode_rows([rows], rows.schema, stored=True).size < plain / 5


def test_same_rows_same_bytes() -> None:
    again = pa.record_batch(
        [pa.array(values, kind) for kind, values in VALUES], schema=EVERYTHING.schema
    )
    first, second = (
        encode_rows([rows], rows.schema, stored=True) for rows in (EVERYTHING, again)
    )
    assert first.equals(second)


@given(directories)
def test_directory_round_trip(directory: Directory) -> None:
    blob = with_token(directory.token, encode_directory(directory, PRINT.digest))
    assert decode_directory(blob, PRINT, nothing) == directory


@given(directories)
def test_same_directory_same_bytes(directory: Directory) -> None:
    copy = decode_directory(encode_directory(directory, PRINT.digest), PRINT, nothing)
    assert encode_directory(copy, PRINT.digest) == encode_directory(
        directory, PRINT.digest
    )


def test_empty_directory() -> None:
    assert (
        decode_directory(encode_directory(EMPTY, PRINT.digest), PRINT, nothing) == EMPTY
    )


def test_newer_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(module, "FORMAT", module.FORMAT + 1)
        blob = encode_directory(EMPTY, PRINT.digest)
    with pytest.raises(StateMismatchError) as caught:
        decode_directory(blob, PRINT, nothing)
    problem, fix = str(caught.value).split("\n")
    assert f"state of format {module.FORMAT + 1}" in problem
    assert f"reads format {module.FORMAT}." in problem
    assert fix.startswith("Fix: install the shedjoin version that wrote it")


def test_state_of_another_join_is_refused() -> None:
    old, new = (
        Identity(digest, json.dumps({"streams": [], "shards": shards}))
        for digest, shards in (("0123", 8), ("4567", 4))
    )
    blob = encode_directory(EMPTY, old.digest)
    with pytest.raises(StateMismatchError) as caught:
        decode_directory(blob, new, old.facts.encode)
    problem, fix = str(caught.value).split("\n")
    assert problem.endswith("another join: it has 8 shards, the query has 4.")
    assert fix.startswith("Fix: restore the old arguments")
    assert isinstance(caught.value, RuntimeError)


# Written by format 1 and never again: a later version has to read what lies in
# the checkpoints of its users, or to refuse it with the way out.


def test_directory_of_format_1() -> None:
    blob = (DATA / "directory-1.arrow").read_bytes()
    with pytest.raises(StateMismatchError, match="state of format 1") as caught:
        decode_directory(blob, PRINT, nothing)
    assert caught.value.fix.startswith("go on with the version that wrote it")


def test_segment_of_format_1() -> None:
    rows = decode_batch((DATA / "segment-1.arrow").read_bytes())
    rows.validate(full=True)
    assert rows.schema.equals(EVERYTHING.schema)
    assert rows.equals(EVERYTHING)
