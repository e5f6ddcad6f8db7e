"""Columns of every type, with edge values and nulls, and keys of every type."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa

START_US = 1_700_000_000_000_000
TIMESTAMP = pa.timestamp("us", tz="UTC")
NAN, INFINITE = float("nan"), float("inf")
_STRUCT = pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))])
_NOON = dt.datetime(2024, 2, 29, 12, 0, 0, 1)  # noqa: DTZ001  (a time without a zone)
_OLD = dt.datetime(1883, 11, 18, 4, 5, 6)  # noqa: DTZ001

PAYLOAD: dict[str, tuple[pa.DataType, list[Any]]] = {
    "a_string": (pa.string(), ["", "h\u00e9\0\U0001f40d", None]),
    "a_decimal": (pa.decimal128(38, 18), [Decimal("-0.000000000000000001"), None, 7]),
    "a_small_decimal": (pa.decimal128(5, 0), [Decimal(99999), Decimal(0), None]),
    "a_timestamp": (TIMESTAMP, [None, 1, START_US]),
    "a_local_time": (pa.timestamp("us"), [_OLD, _NOON, None]),
    "a_date": (pa.date32(), [dt.date(1, 1, 1), None, dt.date(9999, 12, 31)]),
    "a_binary": (pa.binary(), [b"", b"\0\xff", None]),
    "a_boolean": (pa.bool_(), [True, None, False]),
    "a_byte": (pa.int8(), [-128, None, 127]),
    "a_short": (pa.int16(), [None, -32768, 32767]),
    "an_int": (pa.int32(), [2**31 - 1, None, -(2**31)]),
    "a_long": (pa.int64(), [2**63 - 1, -(2**63), None]),
    "a_float": (pa.float32(), [-0.0, NAN, None]),
    "a_double": (pa.float64(), [-0.0, -INFINITE, NAN]),
    "an_array": (pa.list_(pa.int32()), [[], [1, None], None]),
    "an_array_of_arrays": (pa.list_(pa.list_(pa.string())), [[[""], None], [], None]),
    "a_struct": (_STRUCT, [{"a": 1, "b": ["x"]}, None, {"a": None, "b": None}]),
    "a_map": (pa.map_(pa.string(), pa.int32()), [[], [("x", 1), ("y", None)], None]),
    "a_map_of_structs": (pa.map_(pa.int32(), _STRUCT), [None, [(1, None)], []]),
    "an_array_of_times": (pa.list_(TIMESTAMP), [[START_US, None], None, []]),
}

KEYS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "boolean": (pa.bool_(), [True, False]),
    "byte": (pa.int8(), [-128, 0, 127]),
    "short": (pa.int16(), [-32768, 0]),
    "int": (pa.int32(), [-(2**31), 0]),
    "long": (pa.int64(), [-(2**63), 2**32, 0]),
    "float": (pa.float32(), [NAN, 0.0, -0.0, 1.5]),
    "double": (pa.float64(), [NAN, 0.0, -0.0, INFINITE, 0.1]),
    "decimal": (pa.decimal128(10, 2), [Decimal("0.10"), Decimal(-1)]),
    "wide decimal": (pa.decimal128(38, 0), [Decimal(10**37), Decimal(0)]),
    "string": (pa.string(), ["", "a", "A", "a ", "\u00e9", "e\u0301", "\0"]),
    "binary": (pa.binary(), [b"", b"\0", b"\0\0"]),
    "date": (pa.date32(), [dt.date(1, 1, 1), dt.date(1970, 1, 1)]),
    "timestamp": (TIMESTAMP, [-1, 0, START_US]),
    "local time": (pa.timestamp("us"), [_OLD, _NOON]),
    "array": (pa.list_(pa.int32()), [[], [1], [1, None], [None, 1], [None]]),
    "array of doubles": (pa.list_(pa.float64()), [[0.0], [-0.0], [NAN], []]),
    "struct": (
        _STRUCT,
        [
            {"a": 1, "b": ["x", None]},
            {"a": 1, "b": ["x"]},
            {"a": None, "b": None},
            {"a": None, "b": []},
        ],
    ),
    "struct of a double": (
        pa.struct([("x", pa.float64()), ("s", pa.struct([("y", pa.string())]))]),
        [{"x": -0.0, "s": {"y": None}}, {"x": 0.0, "s": {"y": None}}, {"x": 0.0}],
    ),
}

KEY_COLUMNS: list[tuple[pa.DataType, list[Any]]] = [
    (pa.float64(), [NAN, -0.0, 0.0, 1.0, 1.0, None]),
    (_STRUCT, [{"a": None, "b": ["x"]}] * 4 + [None, {"a": 1}]),
    (pa.list_(pa.int32()), [[1], [None], [None], [], [], []]),
    (pa.string(), ["a", "b", "b", "", "", ""]),
]
"""Four key columns of one table: rows 1 and 2 are equal, the last two have nulls."""


def times(*seconds: float) -> pa.Array:
    """Timestamps some seconds after the start."""
    return pa.array([START_US + round(1e6 * s) for s in seconds], TIMESTAMP)


def payload_table() -> pa.Table:
    """One row per place of the payload's values, keys 0, 1 and 2."""
    columns = {name: pa.array(items, kind) for name, (kind, items) in PAYLOAD.items()}
    return pa.table({"k": [0, 1, 2], "left_time": times(1, 2, 3)} | columns)


def key_table(kind: str, side: str) -> pa.Table:
    """Every key of a kind twice, and a null; numbered, all at about the same time."""
    arrow, items = KEYS[kind]
    keys = [*items, *items, None]
    return pa.table(
        {
            "k": pa.array(keys, arrow),
            f"{side}_time": times(*range(len(keys))),
            f"{side}_id": list(range(len(keys))),
        }
    )
