"""A control message: JSON that names its format and what it sets."""

from __future__ import annotations

import json
from typing import Any

from shedjoin.control.settings import SETTINGS, read_setting
from shedjoin.errors import ParameterError, ShedjoinError

FORMAT = 1
MOST_BYTES = 64 << 10
"""Most bytes of a message. It goes to every shard, which keeps it in its state."""


def encode_message(**settings: object) -> bytes:
    """Encode a message; refuse settings that no join would accept.

    >>> encode_message(budget={"rows": 1000})
    b'{"format": 1, "set": {"budget": {"rows": 1000}}}'
    """
    try:
        text = json.dumps({"format": FORMAT, "set": settings}, sort_keys=True).encode()
    except TypeError as error:
        raise ParameterError(
            f"{settings!r} cannot be written as JSON: {error}.",
            fix='write budget={"rows": 1000} or policy={"name": "Fifo"}.',
        ) from error
    decode_message(text)
    return text


def decode_message(text: bytes) -> dict[str, Any]:
    """Decode the settings of a message; ``ParameterError`` says why it is refused."""
    if len(text) > MOST_BYTES:
        raise ParameterError(
            f"the message has {len(text):,} bytes.",
            fix=f"write at most {MOST_BYTES:,}.",
        )
    try:
        told = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ParameterError(
            f"the message is not JSON: {error}.",
            fix='write {"format": 1, "set": {"budget": {"rows": 1000}}}.',
        ) from error
    settings = _settings(told)
    for setting, value in settings.items():
        try:
            read_setting(setting, value)
        except ShedjoinError:
            raise
        except Exception as error:  # a value that the checks did not expect
            raise ParameterError(
                f"{setting} cannot be {value!r}: {error!r}.",
                fix="see docs/how-to/steer-a-query.md for what can be set.",
            ) from error
    return settings


def _settings(told: object) -> dict[str, Any]:
    if not isinstance(told, dict) or set(told) != {"format", "set"}:
        raise ParameterError(
            'the message is not an object of "format" and "set".',
            fix='write {"format": 1, "set": {"budget": {"rows": 1000}}}.',
        )
    if type(told["format"]) is not int or told["format"] != FORMAT:
        raise ParameterError(
            f"the message is of format {told['format']!r}.",
            fix=f"write format {FORMAT}, or run a version that reads the other.",
        )
    settings = told["set"]
    if not isinstance(settings, dict) or not settings:
        raise ParameterError(
            "the message sets nothing.", fix=f"set one of {', '.join(SETTINGS)}."
        )
    return settings


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")
