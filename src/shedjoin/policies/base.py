"""The verbs of a policy, and what it is asked about.

Every scheme of the five papers is a combination of five decisions over *arrays*; a
policy is a frozen dataclass that makes one or two of them. ``docs/decisions/0004``
says how each scheme maps to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from shedjoin.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:  # the driver plans a join without compiling kernels
    from shedjoin.models.learned import Models

Ties = Literal["oldest", "newest"]
"""Who leaves first among equal scores."""


class Residents(NamedTuple):
    """Rows that a policy judges: residents, or arrivals as residents of age zero.

    Examples
    --------
    >>> rows = Residents.example(time=[0, 1_000_000], now_us=3_000_000)
    >>> rows.age_us.tolist(), rows.remaining_us.tolist()
    ([3000000, 2000000], [7000000, 8000000])
    """

    stream: IntArray
    key: IntArray
    time: IntArray
    number: IntArray
    importance: FloatArray
    matches: FloatArray
    last_match: IntArray
    now_us: int
    keep_us: tuple[int, ...]

    @property
    def age_us(self) -> IntArray:
        """Time since the row's own; an early one is new."""
        return (self.now_us - self.time).clip(0)

    @property
    def remaining_us(self) -> IntArray:
        """Time until nothing can match the row any more."""
        return np.array(self.keep_us)[self.stream] - self.age_us

    @staticmethod
    def example(
        time: list[int],
        *,
        now_us: int,
        key: list[int] | None = None,
        importance: list[float] | None = None,
        matches: list[float] | None = None,
        last_match: list[int] | None = None,
    ) -> Residents:
        """Rows of the first stream for docstrings; the window is ten seconds."""
        rows = len(time)
        return Residents(
            stream=np.zeros(rows, np.int64),
            key=np.array(key or [0] * rows, np.int64),
            time=np.array(time, np.int64),
            number=np.arange(rows),
            importance=np.array(importance or [1.0] * rows),
            matches=np.array(matches or [0.0] * rows),
            last_match=np.array(last_match or time, np.int64),
            now_us=now_us,
            keep_us=(10_000_000, 10_000_000),
        )


class Policy:
    """What to shed. Every verb has a default that sheds nothing by itself.

    A subclass is a frozen dataclass with slots. It says which of the class variables
    differ, and overrides one or two verbs.
    """

    __slots__ = ()

    ties: ClassVar[Ties] = "oldest"
    dynamic: ClassVar[bool] = False
    """Scores change with time, matches or models, and have to be computed again."""

    counts_matches: ClassVar[bool] = True
    """Scores read ``matches`` or ``last_match``. A policy that does without is faster:
    who leaves does not depend on who meets whom, so many arrivals probe at once."""

    learns: ClassVar[bool] = False
    """Reads the models. Dynamic policies are taken to."""

    samples: ClassVar[bool] = False
    """Residents are a sample: scores are drawn by lot, and :meth:`inclusion` says how
    likely they were. Results then carry their weight."""

    def admit(self, arrivals: Residents, models: Models) -> BoolArray | None:
        """Choose the arrivals that take part at all; None is all."""

    def probe(self, arrivals: Residents, models: Models) -> BoolArray | None:
        """Choose the arrivals that look for matches; None is all."""

    def retain(self, arrivals: Residents, models: Models) -> FloatArray | None:
        """Probability with which each arrival may be stored; None is 1."""

    def thin(self, arrivals: Residents, models: Models) -> FloatArray | None:
        """Probability with which each later match of an arrival is emitted; None is 1.

        Every match of a resident tosses a coin of its own.
        """

    def coins(self, arrivals: Residents, models: Models) -> IntArray | None:
        """How many matches each arrival is expected to have; None is not said.

        With :meth:`thin`, coins are then tossed for so many matches on arrival, and
        the row is let go after the last one that wins.
        """

    def inclusion(
        self, score: FloatArray, bar: FloatArray, key: IntArray, number: IntArray
    ) -> FloatArray:
        """Probability of rows to be residents still, if rows up to ``bar`` had to go.

        Asked of policies that sample.
        """
        raise NotImplementedError

    def score(self, residents: Residents, models: Models) -> FloatArray:
        """Worth of each row; when the budget is used up the lowest leaves first."""
        del models
        return residents.number.astype(float)

    def first_score(self, arrivals: Residents, models: Models) -> FloatArray:
        """Worth of an arrival until scores are computed again."""
        return self.score(arrivals, models)

    @property
    def maturity_us(self) -> int:
        """Rows up to this age stay while an older one can leave; -1 is no such rule."""
        return -1

    @property
    def foresees(self) -> bool:
        """Under ``shed_then_join``: matches of an instant count before it sheds."""
        return True

    @property
    def match_decay(self) -> float:
        """How fast past matches fade, per microsecond; 0 is never."""
        return 0.0


def overrides(policy: Policy, verb: str) -> bool:
    """Whether a policy has an answer of its own to a verb."""
    return getattr(type(policy), verb) is not getattr(Policy, verb)
