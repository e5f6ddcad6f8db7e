"""Keys and times as 64-bit integers."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from shedjoin.columns.hot import as_int64, fits_64_bits, hot_columns
from support.shards import Arrival, batch_of, make_spec

NAIVE = datetime(1970, 1, 1, 0, 0, 1)  # noqa: DTZ001  (that is what the column holds)


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.int8(), [-128, 127], [-128, 127]),
        (pa.int32(), [-(2**31), 2**31 - 1], [-(2**31), 2**31 - 1]),
        (pa.int64(), [-(2**63), 2**63 - 1], [-(2**63), 2**63 - 1]),
        (pa.uint32(), [0, 2**32 - 1], [0, 2**32 - 1]),
        (pa.uint64(), [0, 2**64 - 1], [0, -1]),
        (pa.bool_(), [False, True], [0, 1]),
        (pa.date32(), [date(1969, 12, 31), date(1970, 1, 2)], [-1, 1]),
        (pa.date64(), [date(1970, 1, 1), date(1970, 1, 2)], [0, 86_400_000]),
        (pa.timestamp("us"), [NAIVE, NAIVE], [1_000_000] * 2),
        (pa.timestamp("ms", "Europe/Oslo"), [5, -5], [5, -5]),
    ],
    ids=str,
)
def test_types_that_fit(kind: pa.DataType, values: list[Any], expected: Any) -> None:  # noqa: ANN401
    column = pa.array([values[1], *values], kind)
    assert fits_64_bits(kind)
    assert as_int64(column[1:]).tolist() == expected
    assert as_int64(column[:0]).tolist() == []
    assert as_int64(column).flags.c_contiguous


@pytest.mark.parametrize(
    "value", [1.5, "a", b"a", Decimal("1.0"), [1], {"x": 1}], ids=repr
)
def test_types_that_do_not_fit(value: Any) -> None:  # noqa: ANN401
    assert not fits_64_bits(pa.array([value]).type)


def test_columns_are_read_only() -> None:
    side = make_spec(0, 0).streams[0]
    rows = batch_of([Arrival(4, 5, 6), Arrival(7, 8, 9)])
    hot = hot_columns(rows, side, direct=True)
    assert (hot.key.tolist(), hot.time.tolist()) == ([4, 7], [5, 8])
    assert not hot.key.flags.writeable
    assert not hot.time.flags.writeable


def test_keys_that_do_not_fit_come_as_hashes() -> None:
    rows = batch_of([Arrival(4, 5, 6), Arrival(7, 8, 9)], direct=False)
    hot = hot_columns(rows, make_spec(0, 0, direct=False).streams[0], direct=False)
    assert hot.key.tolist() == [0, 1]
