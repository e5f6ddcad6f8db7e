"""Every policy of ours says where it comes from, and its example holds."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from shedjoin.policies import POLICIES, PREDICATE_POLICIES, Policy

from .docstrings import undocumented


@dataclass(frozen=True, slots=True)
class Bare(Policy):
    """Has neither headings nor an example."""


@dataclass(frozen=True, slots=True)
class Wrong(Policy):
    """An example that does not hold.

    Notes
    -----
    *Source.* *Symbols.* *Departures.* *Guarantee.* *Cost.*

    References
    ----------
    None.

    Examples
    --------
    >>> 1 + 1
    3
    """


@pytest.mark.parametrize(
    "kind", [*POLICIES, *PREDICATE_POLICIES], ids=lambda kind: kind.__name__
)
def test_policy(kind: type[Policy]) -> None:
    assert list(undocumented(kind)) == []


def test_missing_headings_are_found() -> None:
    assert "its docstring has no heading *Source.*" in list(undocumented(Bare))


def test_an_example_that_fails_is_found() -> None:
    (problem,) = undocumented(Wrong)
    assert problem.startswith("an example of its docstring fails")
