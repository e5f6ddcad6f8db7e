"""Key values of every kind a stream case may use."""

import datetime as dt
from decimal import Decimal
from typing import Any, Literal, get_args

import pyarrow as pa

KeyKind = Literal[
    "int64", "int32", "string", "pair", "date", "decimal", "binary", "bool"
]
KEY_KINDS: tuple[KeyKind, ...] = get_args(KeyKind)

_TYPES: dict[KeyKind, list[pa.DataType]] = {
    "int64": [pa.int64()],
    "int32": [pa.int32()],
    "string": [pa.string()],
    "pair": [pa.string(), pa.int64()],
    "date": [pa.date32()],
    "decimal": [pa.decimal128(12, 2)],
    "binary": [pa.binary()],
    "bool": [pa.bool_()],
}

# The values with low numbers, so that skewed streams repeat them most.
_EDGES: dict[KeyKind, list[Any]] = {
    "int64": [0, -1, 2**63 - 1, -(2**63)],
    "int32": [0, -1, 2**31 - 1, -(2**31)],
    "string": ["", "a", "A", "a ", "\u00e9", "e\u0301", "\0", "\U0001f40d" * 20],
    "pair": [("a", 11), ("a1", 1), ("", 0), ("a", 1), ("a", -1)],
    "date": [dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 31)],
    "decimal": [
        Decimal("0.00"),
        Decimal("-0.01"),
        Decimal("9999999999.99"),
        Decimal("-9999999999.99"),
    ],
    "binary": [b"", b"\0", b"\0\0", b"\xff\xfe"],
    "bool": [True, False],
}


def key_fields(kind: KeyKind) -> list[tuple[str, pa.DataType]]:
    """Return the name and type of each key column."""
    types = _TYPES[kind]
    names = ["k"] if len(types) == 1 else [f"k{n}" for n in range(1, len(types) + 1)]
    return list(zip(names, types, strict=True))


def key_of(kind: KeyKind, number: int) -> tuple[Any, ...]:
    """Return key values for a number; other numbers give others, bool excepted."""
    edges = _EDGES[kind]
    value = edges[number] if number < len(edges) else _ordinary(kind, number)
    return value if isinstance(value, tuple) else (value,)


def _ordinary(kind: KeyKind, number: int) -> Any:  # noqa: ANN401
    match kind:
        case "int64":  # pairs of keys that share their lower 32 bits
            return number // 2 + 2**32 * (number % 2)
        case "int32":
            return number
        case "string":
            return f"key-{number}"
        case "pair":
            return f"s{number % 5}", number // 5
        case "date":
            return dt.date(2023, 11, 14) + dt.timedelta(days=number)
        case "decimal":
            return Decimal(number).scaleb(-2)
        case "binary":
            return number.to_bytes(4, "big") + b"k"
        case "bool":
            return number % 2 == 0
