"""Rules that every policy has to satisfy, one object per rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from shedjoin.policies.base import Policy

Parameters: TypeAlias = Mapping[str, object]
"""Keyword arguments of a policy."""


@dataclass(frozen=True, slots=True)
class Trials:
    """How policies are tried: number of random streams, first seed, and parameters.

    Parameters
    ----------
    streams : int, default 20
        Random streams; each has a seed of its own, counted from ``seed``.
    seed : int, default 0
        The first seed.
    good, bad : sequence of mappings
        Parameters at the edges of a policy's domain, and outside of it.
    """

    streams: int = 20
    seed: int = 0
    good: Sequence[Parameters] = ()
    bad: Sequence[Parameters] = ()

    @property
    def seeds(self) -> range:
        """The seeds of all streams."""
        return range(self.seed, self.seed + self.streams)


Finder: TypeAlias = Callable[[Policy, Trials], Iterator[str]]
"""Function that gives one text for each case in which a policy breaks a rule."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """One rule; calling it raises ``AssertionError`` if a policy breaks it.

    Parameters
    ----------
    number : int
        Number of the rule in the list of rules.
    says : str
        The rule in words.
    find : callable
        Finds the cases in which a policy breaks the rule.
    slow : bool, default False
        Whether the check takes more than a few seconds.
    hint : str, default ""
        A possible reason why a policy breaks the rule.
    """

    number: int
    says: str
    find: Finder
    slow: bool = False
    hint: str = ""

    def __call__(self, policy: Policy, trials: Trials | None = None) -> None:
        """Check a policy."""
        for problem in self.find(policy, trials or Trials()):
            hint = f"\nPerhaps: {self.hint}" if self.hint else ""
            raise AssertionError(
                f"{policy!r} breaks invariant {self.number} ({self.says}): "
                f"{problem}{hint}"
            )
