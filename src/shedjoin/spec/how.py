"""The argument ``how=``: kinds of joins, as PySpark names them."""

from __future__ import annotations

from shedjoin.errors import ParameterError
from shedjoin.spec.capabilities.asked import Asked
from shedjoin.spec.capabilities.kinds import Feature

_SPELLINGS = {
    "inner": ("inner",),
    "left": ("left", "leftouter"),
    "right": ("right", "rightouter"),
    "full": ("full", "fullouter", "outer"),
    "left_semi": ("semi", "leftsemi"),
    "left_anti": ("anti", "leftanti"),
}


def asked_how(how: object) -> list[Asked]:
    """List the features that ``how=`` asks for; none for an inner join.

    >>> asked_how("inner"), asked_how("left_outer")[0][1]
    ([], "how='left_outer'")
    >>> asked_how("lefft")
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: how='lefft' is not a kind of join.
    Fix: write one of 'inner', 'left', 'right', 'full', 'left_semi', 'left_anti'.
    """
    spelled = how.lower().replace("_", "") if isinstance(how, str) else ""
    if not any(spelled in known for known in _SPELLINGS.values()):
        raise ParameterError(
            f"how={how!r} is not a kind of join.",
            fix=f"write one of {', '.join(map(repr, _SPELLINGS))}.",
        )
    return [] if spelled == "inner" else [(Feature.OUTER, f"how={how!r}")]
