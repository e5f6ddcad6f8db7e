"""Checks what a policy returns, before kernels read it.

Kernels do not check the bounds of arrays. A user's policy may return an array that is
too short, or None, or values that cannot be compared. If it does, an error is raised
that names the method of the policy (here called its *verb*). What a policy returns is
copied, because the policy may write its next result into the same array.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from shedjoin.errors import ParameterError
from shedjoin.policies.base import Pace, Policy
from shedjoin.types import BoolArray, FloatArray, IntArray

Anything = npt.NDArray[np.generic]
_NAN = (
    "look for inf * 0, inf - inf and 0 / 0: importance is infinite on a side that has "
    "none, an arrival is of age 0 and has no matches, and remaining_us is 0 from the "
    "start on a side that is not kept"
)


def scores(policy: Policy, verb: str, given: object, rows: int) -> FloatArray:
    """Return scores as floats; raise if one is NaN, which cannot be ordered."""
    found = _numbers(policy, verb, given, rows)
    if np.isnan(found).any():
        what = f"{int(np.isnan(found).sum())} NaN among {rows} values"
        raise _wrong(policy, verb, what, _NAN)
    return found


def choices(policy: Policy, verb: str, given: object, rows: int) -> BoolArray:
    """Return booleans, one for each row; raise if ``given`` has other values."""
    found = _array(policy, verb, given, rows)
    if found.dtype != np.bool_:
        raise _wrong(policy, verb, f"an array of {found.dtype}, not of bool")
    return np.array(found, np.bool_)


def chances(
    policy: Policy, verb: str, given: object, rows: int, *, least: float = 0.0
) -> FloatArray:
    """Return probabilities as floats; raise if one is below ``least`` or above 1."""
    found = _numbers(policy, verb, given, rows)
    outside = found[~((found >= least) & (found <= 1.0))]
    if outside.size:
        what = f"{outside[0]} among probabilities, which go from 0 to 1"
        raise _wrong(policy, verb, what)
    return found


def counts(policy: Policy, verb: str, given: object, rows: int) -> IntArray:
    """Return integers as int64; raise if one is negative."""
    found = _array(policy, verb, given, rows)
    if found.dtype.kind not in "iu" or (rows and found.min() < 0):
        raise _wrong(policy, verb, f"{found.dtype} {found[:3]}..., not counts")
    return np.array(found, np.int64)


def _numbers(policy: Policy, verb: str, given: object, rows: int) -> FloatArray:
    found = _array(policy, verb, given, rows)
    if found.dtype.kind not in "iufb":
        raise _wrong(policy, verb, f"an array of {found.dtype}, not of numbers")
    return np.array(found, np.float64)


def pace(policy: Policy) -> Pace:
    """Return the pace of a policy; raise if one of its values is not valid.

    The maturity must be an integer from -1 on. The decay must be finite, and not
    negative.
    """
    given: Any = policy.pace
    if isinstance(given, Pace):
        values: tuple[Any, ...] = given
        maturity, decay, instant_first = values
        numbers = isinstance(maturity, Integral) and isinstance(decay, Real)
        if numbers and maturity >= -1 and 0.0 <= decay < np.inf:
            return Pace(int(maturity), float(decay), bool(instant_first))
    raise ParameterError(
        f"{type(policy).__name__}.pace is {given!r}.",
        fix="write Pace(maturity_us=3_000_000), in whole microseconds or -1; "
        "match_decay is 0 or more.",
    )


def _array(policy: Policy, verb: str, given: object, rows: int) -> Anything:
    if given is None:
        raise _wrong(policy, verb, f"None for {rows} rows")
    found = np.asarray(given)
    if found.shape != (rows,):
        raise _wrong(policy, verb, f"an array of shape {found.shape} for {rows} rows")
    return found


def _wrong(policy: Policy, verb: str, what: str, fix: str = "") -> ParameterError:
    name = type(policy).__name__
    if verb == "first_score" and type(policy).first_score is Policy.first_score:
        verb = "score"  # first_score calls it
    return ParameterError(
        f"{name}.{verb} gave {what}.",
        fix=(
            fix
            or f"have {verb} return one value per row, as a numpy array such as "
            "np.full(rows.key.size, 1.0)"
        )
        + f"; shedjoin.testing.check_policy({name}()) tests the whole policy.",
    )
