"""Bytes of a row do not depend on the rows that it comes with."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from shedjoin.columns.sizes import row_sizes

ROWS = 16
TEXTS = ["x" * n for n in range(ROWS)]
LISTS = [[1] * n if n % 3 else None for n in range(ROWS)]
MAPS = [[("k" * n, "v")] * (n % 4) if n % 5 else None for n in range(ROWS)]
STRUCTS = [{"a": text, "b": [1, 2]} for text in TEXTS]
COLUMNS = {
    "decimal": pa.array([Decimal(n) if n % 3 else None for n in range(ROWS)]),
    "null": pa.nulls(ROWS),
    "text": pa.array(TEXTS, pa.large_string()),
    "list": pa.array(LISTS, pa.list_(pa.int64())),
    "large list": pa.array(LISTS, pa.large_list(pa.int64())),
    "fixed list": pa.array([["a", "bcd"]] * ROWS, pa.list_(pa.string(), 2)),
    "map": pa.array(MAPS, pa.map_(pa.string(), pa.string())),
    "struct": pa.array(STRUCTS),
    "dictionary": pa.array(TEXTS).dictionary_encode(),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("length", [1, 4])
def test_slices_have_the_same_sizes(kind: str, length: int) -> None:
    rows = pa.record_batch({"column": COLUMNS[kind]})
    whole = row_sizes(rows)
    parts = [row_sizes(rows.slice(at, length)) for at in range(0, ROWS, length)]
    assert np.concatenate(parts).tolist() == whole.tolist()
    order = np.random.default_rng(1).permutation(ROWS)
    assert row_sizes(rows.take(pa.array(order))).tolist() == whole[order].tolist()
    assert row_sizes(rows.slice(ROWS)).size == 0
