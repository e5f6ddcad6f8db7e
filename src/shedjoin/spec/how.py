"""The argument ``how=``: kinds of joins, as PySpark names them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from shedjoin.errors import ParameterError
from shedjoin.spec.capabilities.asked import Asked
from shedjoin.spec.capabilities.kinds import Feature

How: TypeAlias = Literal["inner", "left", "right", "full", "left_semi", "left_anti"]
_SPELLINGS: dict[How, tuple[str, ...]] = {
    "inner": ("inner",),
    "left": ("left", "leftouter"),
    "right": ("right", "rightouter"),
    "full": ("full", "fullouter", "outer"),
    "left_semi": ("semi", "leftsemi"),
    "left_anti": ("anti", "leftanti"),
}
LEFT_ALONE: tuple[How, ...] = ("left_semi", "left_anti")
"""Joins whose results have the columns of the left stream alone."""
_PRESERVED: dict[How, tuple[bool, bool]] = {
    "left": (True, False),
    "right": (False, True),
    "full": (True, True),
    "left_anti": (True, False),
}


def preserved(how: How) -> tuple[bool, bool]:
    """Whether rows of the left and of the right stream are emitted without a partner.

    >>> preserved("left"), preserved("left_semi")
    ((True, False), (False, False))
    """
    return _PRESERVED.get(how, (False, False))


def parse_how(how: object) -> How:
    """Return the kind of join that one of PySpark's spellings names.

    >>> parse_how("LEFT_OUTER"), parse_how("semi")
    ('left', 'left_semi')
    >>> parse_how("lefft")
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: how='lefft' is not a kind of join.
    Fix: write one of 'inner', 'left', 'right', 'full', 'left_semi', 'left_anti'.
    """
    spelled = how.lower().replace("_", "") if isinstance(how, str) else ""
    for known, spellings in _SPELLINGS.items():
        if spelled in spellings:
            return known
    raise ParameterError(
        f"how={how!r} is not a kind of join.",
        fix=f"write one of {', '.join(map(repr, _SPELLINGS))}.",
    )


def asked_how(how: object) -> list[Asked]:
    """List the features that ``how=`` asks for; none for an inner join.

    >>> asked_how("inner"), asked_how("left_outer")[0][1]
    ([], "how='left_outer'")
    """
    return [] if parse_how(how) == "inner" else [(Feature.OUTER, f"how={how!r}")]
