"""The rows that a policy is asked about, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.types import FloatArray, IntArray

if TYPE_CHECKING:  # the driver plans a join without compiling kernels
    from shedjoin.models.asked import AskedModels
    from shedjoin.models.sampling import Outlook


class Met(NamedTuple):
    """What rows have matched so far."""

    matches: FloatArray
    last_match: IntArray


class Around(NamedTuple):
    """What rows see around them, and what became of them so far."""

    partners: FloatArray
    produced: FloatArray
    last_score: FloatArray
    waited_us: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Residents:
    """Rows that a policy judges: residents, or arrivals as residents of age zero.

    Everything is an array with one value per row, but for ``now_us`` and ``keep_us``.
    Importance is infinite on a side that has none. ``size`` is what a row takes from
    the budget: bytes, or one row. ``matches`` and ``last_match``,
    ``partners`` and what comes with them, and whatever asks the models, are there for
    policies that say so in ``reads``.

    Examples
    --------
    >>> rows = Residents.example(time=[0, 1_000_000], now_us=3_000_000)
    >>> rows.age_us.tolist(), rows.remaining_us.tolist()
    ([3000000, 2000000], [7000000, 8000000])
    >>> rows.matches
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: The policy reads matches without saying so.
    Fix: write reads = ("matches",) in the class.
    """

    stream: IntArray
    key: IntArray
    time: IntArray
    number: IntArray
    importance: FloatArray
    size: IntArray
    now_us: int
    keep_us: tuple[int, ...]
    met: Met | None = None
    around: Around | None = None
    learned: AskedModels | None = None
    asked: str = "The policy"
    """Who is asked, for messages."""

    @property
    def age_us(self) -> IntArray:
        """Time since the row's own; an early one is new."""
        return (self.now_us - self.time).clip(0)

    @property
    def remaining_us(self) -> IntArray:
        """Time until nothing can match the row any more."""
        return np.array(self.keep_us)[self.stream] - self.age_us

    @property
    def matches(self) -> FloatArray:
        """Matches so far; they fade if the policy's pace says so."""
        return self._met.matches

    @property
    def last_match(self) -> IntArray:
        """Time of the last match; at first that of the row itself."""
        return self._met.last_match

    @property
    def partners(self) -> FloatArray:
        """Rows of the other stream that each could be matched with now.

        Residents who have not expired, and the arrivals of the present block.
        """
        return self._around.partners

    @property
    def produced(self) -> FloatArray:
        """How many of the partners are arrivals of the present block."""
        return self._around.produced

    @property
    def last_score(self) -> FloatArray:
        """Score of the block before; NaN for arrivals."""
        return self._around.last_score

    @property
    def waited_us(self) -> IntArray:
        """Time since the row was last scored; 0 for arrivals."""
        return self._around.waited_us

    def partner_count(self) -> FloatArray:
        """How often each row's key came on the other stream lately."""
        return self.models.partner_count(self.stream, self.key)

    def priority(self) -> FloatArray:
        """Results per second from now on, at best, for its key's frequency and age."""
        return self.models.priority(self.stream, self.key, self.age_us)

    def priority_by_age(self) -> FloatArray:
        """Results per second from now on, at best, whatever the key."""
        return self.models.priority_by_age(self.stream, self.age_us)

    def expected_matches(self) -> FloatArray:
        """Matches that a new row of this key will have in all its life."""
        return self.models.expected_matches(self.stream, self.key)

    def matches_per_arrival(self) -> FloatArray:
        """Matches that an arrival of each row's key will have, of whatever stream."""
        return self.models.matches_per_arrival(self.key)

    def cluster_sizes(self) -> FloatArray:
        """Expected matches of new rows, 1 on average."""
        return self.models.cluster_sizes(self.stream, self.key)

    def value_sizes(self) -> FloatArray:
        """Importance of rows without its sign, 1 on average and at least 0.05.

        It is 1 for the rows of a stream that has none.
        """
        return self.models.value_sizes(self.stream, self.importance)

    def size_factor(self) -> FloatArray:
        """How many times as often rows of its size match as their keys let expect."""
        return self.models.size_factor(self.stream, self.size)

    def mean_worth(self) -> FloatArray:
        """Mean importance of a result with each row."""
        return self.models.mean_worth(self.stream, self.importance)

    @property
    def outlook(self) -> Outlook:
        """What a sample of the join can reach."""
        return self.models.outlook

    @property
    def models(self) -> AskedModels:
        """The models themselves; the methods above ask them about these rows."""
        if self.learned is None:
            raise self._unsaid("models")
        return self.learned

    @property
    def _met(self) -> Met:
        if self.met is None:
            raise self._unsaid("matches")
        return self.met

    @property
    def _around(self) -> Around:
        if self.around is None:
            raise self._unsaid("partners")
        return self.around

    if not TYPE_CHECKING:  # type checkers find a wrong name themselves

        def __getattr__(self, name: str) -> NoReturn:
            """Say what there is where a policy reads what is not."""
            if name.startswith("_") or name in type(self).__slots__:
                raise AttributeError(name)
            known = [each for each in dir(type(self)) if not each.startswith("_")]
            near = ", ".join(get_close_matches(name, known) or known)
            raise AttributeError(
                f"{self.asked} reads residents.{name}, which does not exist.\n"
                f"Fix: read one of: {near}."
            )

    def _unsaid(self, name: str) -> ParameterError:
        there = {
            "matches": self.met,
            "models": self.learned,
            "partners": self.around,
        }
        reads = tuple(one for one in there if one == name or there[one] is not None)
        told = str(reads).replace("'", '"')
        return ParameterError(
            f"{self.asked} reads {name} without saying so.",
            fix=f"write reads = {told} in the class.",
        )

    @staticmethod
    def example(  # noqa: PLR0913  (for docstrings, by keyword)
        time: list[int],
        *,
        now_us: int,
        key: list[int] | None = None,
        importance: list[float] | None = None,
        size: list[int] | None = None,
        matches: list[float] | None = None,
        last_match: list[int] | None = None,
        partners: list[float] | None = None,
        produced: list[float] | None = None,
        last_score: list[float] | None = None,
        models: AskedModels | None = None,
    ) -> Residents:
        """Rows of the first stream for docstrings; the window is ten seconds.

        Those with a last score had it a second ago.
        """
        rows, met, around = len(time), None, None
        if partners is not None:
            score = np.array(last_score or [np.nan] * rows)
            around = Around(
                np.array(partners),
                np.array(produced or [0.0] * rows),
                score,
                np.where(np.isnan(score), 0, 1_000_000),
            )
        if matches is not None:
            met = Met(np.array(matches), np.array(last_match or time, np.int64))
        return Residents(
            stream=np.zeros(rows, np.int64),
            key=np.array(key or [0] * rows, np.int64),
            time=np.array(time, np.int64),
            number=np.arange(rows),
            importance=np.array(importance or [1.0] * rows),
            size=np.array(size or [1] * rows, np.int64),
            now_us=now_us,
            keep_us=(10_000_000, 10_000_000),
            met=met,
            around=around,
            learned=models,
        )
