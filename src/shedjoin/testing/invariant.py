"""What every policy has to satisfy, one object per rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from shedjoin.policies.base import Policy

Parameters: TypeAlias = Mapping[str, object]
"""Keyword arguments of a policy."""


@dataclass(frozen=True, slots=True)
class Trials:
    """On how many random streams, from which seed on, and with which parameters.

    Parameters
    ----------
    streams : int, default 20
        Random streams; each has a seed of its own, counted from ``seed``.
    seed : int, default 0
        The first seed.
    good, bad : sequence of mappings
        Parameters on the edges of a policy's domain and outside of it.
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
"""Gives one text for each time that a policy breaks a rule."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """One rule; calling it raises ``AssertionError`` if a policy breaks it.

    Parameters
    ----------
    number : int
        Its number in the list of rules.
    says : str
        The rule in words.
    find : callable
        Finds where a policy breaks it.
    slow : bool, default False
        Takes more than a few seconds.
    hint : str, default ""
        What the cause may be.
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
