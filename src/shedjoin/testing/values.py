"""Checks of a policy as a Python object.

A policy does not change its arguments, equals its own ``repr`` and pickle, and refuses
wrong parameters.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field

from shedjoin import policies
from shedjoin.errors import ParameterError
from shedjoin.models.learned import Models
from shedjoin.policies.base import Policy, SamplingPolicy
from shedjoin.policies.residents import Residents
from shedjoin.testing.invariant import Parameters, Trials
from shedjoin.testing.shown import columns, shown

PICKLED_BYTES = 1000
VERBS = ("admit", "probe", "retain", "score", "first_score")
_OF_SAMPLES = ("thin", "coins")


def meddling(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for a verb that changes its arguments.

    The arrays are read-only, so an attempt to write into them raises an error. The
    contents are also compared before and after.
    """
    verbs = VERBS + _OF_SAMPLES * isinstance(policy, SamplingPolicy)
    for seed in trials.seeds:
        for verb in verbs:
            rows = shown(policy, seed)
            before, learned = _contents(rows), _learned(rows)
            where = f"in {verb} (seed={seed})"
            try:
                getattr(policy, verb)(rows)
            except ParameterError:  # it names the fault; it is also a ValueError
                raise
            except ValueError as error:
                yield f"{error} {where}"
            if _contents(rows) != before:
                yield f"rows were changed {where}"
            if _learned(rows) != learned:
                yield f"models were changed {where}"


def unwritable(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for a policy that is not equal to its own ``repr`` or pickle."""
    del trials
    kind = type(policy)
    names = {name: getattr(policies, name) for name in policies.__all__}
    try:
        again = eval(repr(policy), {kind.__name__: kind, **names})  # noqa: S307
    except (NameError, SyntaxError, TypeError, ValueError) as error:
        yield f"its repr cannot be evaluated: {error}"
    else:
        if again != policy:
            yield f"its repr gives {again!r}, which is not equal"
    try:
        stored = pickle.dumps(policy)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        yield f"it cannot be pickled: {error}"
        return
    if len(stored) >= PICKLED_BYTES:
        yield f"its pickle has {len(stored)} bytes, and may have {PICKLED_BYTES}"
    if pickle.loads(stored) != policy:  # noqa: S301  (our own bytes)
        yield "its pickle gives another policy"


def undefended(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for values outside the domain that are accepted, and edges that are refused.

    Values come from ``trials``, and from the class variables ``good_parameters`` and
    ``bad_parameters`` of the policy, which are lists of keyword arguments. NaN is
    outside the domain of every number.
    """
    kind = type(policy)
    good = [*trials.good, *getattr(kind, "good_parameters", ())]
    bad = [*trials.bad, *getattr(kind, "bad_parameters", ()), *_not_numbers(policy)]
    for parameters in good:
        try:
            kind(**parameters)
        except ParameterError as error:
            yield f"{_call(kind, parameters)} is in the domain but raises {error!r}"
    for parameters in bad:
        yield from _refuses(kind, parameters)


def _refuses(kind: Callable[..., Policy], parameters: Parameters) -> Iterator[str]:
    call = _call(kind, parameters)
    try:
        kind(**parameters)
    except ParameterError as error:
        if "Fix:" not in str(error):
            yield f"{call} raises {error!r}, without Fix:"
    except Exception as error:  # noqa: BLE001  (whichever it is, it is the wrong one)
        yield f"{call} raises {error!r} in place of ParameterError"
    else:
        yield f"{call} is outside the domain but raises nothing"


def _not_numbers(policy: Policy) -> Iterator[Parameters]:
    declared: Mapping[str, Field[object]] = getattr(policy, "__dataclass_fields__", {})
    for name, field in declared.items():
        if field.init and type(getattr(policy, name)) in (int, float):
            yield {name: float("nan")}


def _call(kind: Callable[..., Policy], parameters: Parameters) -> str:
    told = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    return f"{kind.__name__}({told})"


def _contents(rows: Residents) -> list[bytes]:
    return [column.tobytes() for column in columns(rows)]


def _learned(rows: Residents) -> bytes:
    learned = rows.learned
    return learned.words.tobytes() if isinstance(learned, Models) else b""
