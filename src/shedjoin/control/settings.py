"""The settings that a message may contain, read from JSON into the values of a spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from shedjoin.control.importance import read_importance
from shedjoin.errors import ParameterError
from shedjoin.policies import POLICIES, PREDICATE_POLICIES
from shedjoin.policies.base import Policy
from shedjoin.spec.budget import Budget
from shedjoin.spec.importance import Importances
from shedjoin.spec.throttle import Throttle

Setting = Budget | Policy | Throttle | Importances

AS_STARTED = "as started"
"""Takes the place of a value, to return to the arguments of the join."""


def read_setting(name: str, value: object) -> Setting | None:
    """Value of one setting; None means the value with which the join was started.

    >>> read_setting("budget", {"rows": 1000})
    Budget(rows=1000)
    >>> read_setting("policy", {"name": "Rand", "parameters": {"seed": 7}})
    Rand(seed=7)
    """
    if name not in SETTINGS:
        raise ParameterError(
            f"setting {name!r} is not known.",
            fix=f"set one of {', '.join(SETTINGS)}.",
        )
    if value == AS_STARTED:
        return None
    return SETTINGS[name](value)


def _budget(value: object) -> Budget:
    told = dict(_mapping("budget", value, {field.name for field in fields(Budget)}))
    for name in ("split", "by_shard"):
        if isinstance(told.get(name), list):
            told[name] = tuple(told[name])
    return Budget(**told)


def _policy(value: object) -> Policy:
    told = _mapping("policy", value, {"name", "parameters"})
    kinds = {kind.__name__: kind for kind in (*POLICIES, *PREDICATE_POLICIES)}
    name = told.get("name")
    if not isinstance(name, str) or name not in kinds:
        raise ParameterError(
            f"policy {name!r} is not known.",
            fix=f"name one of {', '.join(kinds)}.",
        )
    kind: Any = kinds[name]
    known = {field.name for field in fields(kind)}
    made: Policy = kind(**_mapping(name, told.get("parameters", {}), known))
    return made


def _throttle(value: object) -> Throttle:
    known = {field.name for field in fields(Throttle)}
    return Throttle(**_mapping("throttle", value, known))


def _importance(value: object) -> Importances:
    known = set(value) if isinstance(value, Mapping) else set()
    return read_importance(_mapping("importance", value, known))


SETTINGS: dict[str, Callable[[object], Setting]] = {
    "budget": _budget,
    "policy": _policy,
    "throttle": _throttle,
    "importance": _importance,
}


def _mapping(name: str, value: object, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ParameterError(
            f"{name} is {value!r}, not an object.",
            fix=f'write {{"{name}": {{...}}}}, or "{AS_STARTED}".',
        )
    odd = sorted(set(value) - known)
    if odd:
        raise ParameterError(
            f"{name} has no {odd[0]!r}.",
            fix=f"write {', '.join(sorted(known)) or 'nothing'} in it.",
        )
    return value
