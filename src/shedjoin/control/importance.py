"""Importance that a control message sets, by stream.

The importance is read from JSON, and checked against the types of the columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from shedjoin.errors import ParameterError
from shedjoin.spec.importance import ByCategory, ByRange, Importances, Source
from shedjoin.spec.streams import JoinSpec

_FIX = (
    'write {"left": {"column": "bid"}}, {"column": "category", "weights": {"news": 5}, '
    '"default": 1} or {"column": "celsius", "edges": [30], "weights": [1, 5]}; null '
    "is a stream without a say."
)
_KINDS = {
    "number": "u?int|bigint|smallint|tinyint|(half)?float|double|decimal|bool(ean)?",
    "text": "string|large_string|varchar|char",
}
"""Patterns of the names of types in Spark and in Arrow. A size may follow a name."""


def read_importance(value: Mapping[str, Any]) -> Importances:
    """Importance of each stream that is named.

    >>> read_importance({"left": {"column": "bid"}, "right": None}).of("left")
    'bid'
    """
    return Importances(tuple((name, _source(one)) for name, one in value.items()))


def check_importance(importances: Importances, spec: JoinSpec) -> None:
    """Refuse importance by a column that is missing or has an unsuitable type."""
    streams = {stream.name: stream for stream in spec.streams}
    for name, source in importances.sources:
        if name not in streams:
            raise ParameterError(
                f"importance of {name!r}, which is no stream of the join.",
                fix=f"name {' or '.join(streams)}.",
            )
        if source is not None:
            _check_column(source, dict(streams[name].columns))


def _check_column(source: Source, columns: Mapping[str, str]) -> None:
    column = source if isinstance(source, str) else source.column
    if column not in columns:
        raise ParameterError(
            f"importance by column {column!r}, which is not there.",
            fix=f"name one of {', '.join(columns)}.",
        )
    kind = columns[column].lower()
    wanted = "text" if isinstance(source, ByCategory) else "number"
    if not re.match(rf"({_KINDS[wanted]})(?![a-z])", kind):
        raise ParameterError(
            f"importance reads {column!r}, of type {kind}, as {wanted}.",
            fix="name a column of numbers, or of text for weights of categories.",
        )


def _source(value: object) -> Source | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not isinstance(value.get("column"), str):
        raise ParameterError(f"importance {value!r} names no column.", fix=_FIX)
    column, given = str(value["column"]), set(value) - {"column"}
    if not given:
        return column
    if given == {"edges", "weights"}:
        edges, weights = _numbers(value["edges"]), _numbers(value["weights"])
        return ByRange(column, edges, weights)
    if given <= {"weights", "default"} and isinstance(value.get("weights"), Mapping):
        weights = _numbers(list(value["weights"].values()))
        (default,) = _numbers([value.get("default", 0.0)])
        if not all(map(_is_text, value["weights"])):
            raise ParameterError("importance of a category that is no text.", fix=_FIX)
        return ByCategory(
            column, dict(zip(value["weights"], weights, strict=True)), default
        )
    raise ParameterError(f"importance {value!r} is not known.", fix=_FIX)


def _is_text(category: str) -> bool:
    """Whether a column can contain the text: JSON also allows half a surrogate pair."""
    return not any("\ud800" <= letter <= "\udfff" for letter in category)


def _numbers(values: object) -> list[float]:
    found = values if isinstance(values, list) else []
    numbers = [float(v) for v in found if type(v) in (int, float)]
    if not numbers or len(numbers) < len(found):
        raise ParameterError(f"importance by {values!r}, not numbers.", fix=_FIX)
    return numbers
