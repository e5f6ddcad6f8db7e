"""Hashes against the same arithmetic in plain Python integers."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.columns import mixing
from shedjoin.columns.placing import shard_of
from shedjoin.kernels.hashing import chain_bytes, chain_words, mixed
from shedjoin.types import ByteArray, IntArray, OffsetArray

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
MULTIPLY_1 = 0xBF58476D1CE4E5B9
MULTIPLY_2 = 0x94D049BB133111EB

int64s = st.integers(-(2**63), 2**63 - 1)


def splitmix(bits: int) -> int:
    """Finaliser of splitmix64, on unsigned integers."""
    bits = (bits ^ (bits >> 30)) * MULTIPLY_1 & MASK
    bits = (bits ^ (bits >> 27)) * MULTIPLY_2 & MASK
    return bits ^ (bits >> 31)


def unmixed(bits: int) -> int:
    """Undo it."""
    bits ^= (bits >> 31) ^ (bits >> 62)
    bits = bits * pow(MULTIPLY_2, -1, 2**64) & MASK
    bits ^= (bits >> 27) ^ (bits >> 54)
    bits = bits * pow(MULTIPLY_1, -1, 2**64) & MASK
    return bits ^ (bits >> 30) ^ (bits >> 60)


def mixed_bits(value: int) -> int:
    """Ask the kernel; value and result as unsigned integers."""
    signed = (value + 2**63 & MASK) - 2**63
    return int(mixed(np.int64(signed))) & MASK


def chained(seed: int, word: int) -> int:
    return splitmix((seed + GOLDEN & MASK) ^ word)


def hashed_bytes(seed: int, text: bytes) -> int:
    state = splitmix((seed + len(text) + GOLDEN) & MASK)
    for start in range(0, len(text), 8):
        state = chained(state, int.from_bytes(text[start : start + 8], "big"))
    return state


def column(values: list[int]) -> IntArray:
    """Return a read-only column, as Arrow hands them out."""
    array = np.array(values, np.int64)
    array.flags.writeable = False
    return array


def strings(texts: list[bytes]) -> tuple[OffsetArray, ByteArray]:
    offset = np.array([0, *accumulate(map(len, texts))], np.int32)
    offset.flags.writeable = False
    return offset, np.frombuffer(b"".join(texts), np.uint8)


def zeros(rows: int) -> IntArray:
    return np.zeros(rows, np.int64)


def test_mixed_is_splitmix() -> None:
    assert mixed_bits(GOLDEN) == 0xE220A8397B1DCDAF  # its first number, seed 0
    assert mixed_bits(0) == 0


@given(int64s)
def test_mixed_can_be_undone(value: int) -> None:
    assert unmixed(mixed_bits(value)) == value & MASK


@given(st.sets(int64s, min_size=2))
def test_mixed_keeps_distinct_values_apart(values: set[int]) -> None:
    assert len({mixed_bits(value) for value in values}) == len(values)


@given(int64s, st.integers(0, 63))
def test_one_bit_changes_many(value: int, bit: int) -> None:
    assert (mixed_bits(value) ^ mixed_bits(value ^ (1 << bit))).bit_count() >= 8


@given(st.lists(int64s))
def test_columns_are_mixed_alike_without_a_compiler(values: list[int]) -> None:
    found = mixing.mixed_bits(column(values).view(np.uint64)).tolist()
    assert found == [mixed_bits(value) for value in values]


@given(st.lists(int64s), st.integers(1, 100_000))
def test_shards_come_from_the_high_bits(keys: list[int], shards: int) -> None:
    found = shard_of(column(keys), shards).tolist()
    assert found == [((mixed_bits(key) >> 33) * shards) >> 31 for key in keys]
    assert all(0 <= shard < shards for shard in found)


@pytest.mark.parametrize("step", [1, 8, 1000, 2**32])
def test_regular_keys_spread_over_shards(step: int) -> None:
    rows = np.bincount(shard_of(np.arange(16_000) * step, 16), minlength=16)
    assert 800 < rows.min() <= rows.max() < 1200


@given(st.lists(st.tuples(int64s, int64s)))
def test_chain_words(rows: list[tuple[int, int]]) -> None:
    seed, words = column([a for a, _ in rows]), column([b for _, b in rows])
    found = [value & MASK for value in chain_words(seed, words).tolist()]
    assert found == [chained(a & MASK, splitmix(b & MASK)) for a, b in rows]


@given(st.lists(st.tuples(int64s, int64s), unique=True))
def test_two_columns_keep_rows_apart(rows: list[tuple[int, int]]) -> None:
    first = chain_words(zeros(len(rows)), column([a for a, _ in rows]))
    both = chain_words(first, column([b for _, b in rows]))
    assert len(set(both.tolist())) == len(rows)


@given(st.lists(st.tuples(int64s, st.binary(max_size=40))))
def test_chain_bytes(rows: list[tuple[int, bytes]]) -> None:
    offset, data = strings([text for _, text in rows])
    found = chain_bytes(column([seed for seed, _ in rows]), offset, data)
    expected = [hashed_bytes(seed & MASK, text) for seed, text in rows]
    assert [value & MASK for value in found.tolist()] == expected


@given(st.lists(st.binary(max_size=20), min_size=1), st.data())
def test_place_of_a_string_does_not_matter(
    texts: list[bytes], data: st.DataObject
) -> None:
    offset, letters = strings(texts)
    whole = chain_bytes(zeros(len(texts)), offset, letters)
    start = data.draw(st.integers(0, len(texts) - 1))
    part = chain_bytes(zeros(len(texts) - start), offset[start:], letters)
    alone = [chain_bytes(zeros(1), *strings([text])).item() for text in texts]
    assert whole.tolist() == alone
    assert part.tolist() == alone[start:]


@given(st.sets(st.binary(max_size=24), min_size=2))
def test_other_strings_other_hashes(texts: set[bytes]) -> None:
    found = chain_bytes(zeros(len(texts)), *strings(sorted(texts)))
    assert len(set(found.tolist())) == len(texts)


def test_zero_bytes_count() -> None:
    texts = [b"\0" * length for length in range(40)]
    found = chain_bytes(zeros(40), *strings(texts))
    assert len(set(found.tolist())) == 40


def test_no_rows() -> None:
    assert chain_words(zeros(0), column([])).tolist() == []
    assert chain_bytes(zeros(0), *strings([])).tolist() == []
    assert shard_of(zeros(0), 4).tolist() == []
