"""The rows that a policy scores, and all that it can read about them."""

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
    """Number of matches of each row so far, and time of its last match."""

    matches: FloatArray
    last_match: IntArray


class Around(NamedTuple):
    """Present partners of each row, and its last score."""

    partners: FloatArray
    produced: FloatArray
    last_score: FloatArray
    waited_us: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Residents:
    """Rows that a policy scores: residents, or arrivals as residents of age zero.

    All attributes are arrays with one value per row, except ``now_us`` and ``keep_us``.
    Importance is infinite for streams that have none. ``size`` is what a row takes from
    the budget: its bytes, or 1. A policy can read matches, partners and the estimates
    of models only if it names them in ``reads``.

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
    """Name of the policy, for messages."""

    @property
    def age_us(self) -> IntArray:
        """Age of each row; 0 for a row whose time is ahead of ``now_us``."""
        return (self.now_us - self.time).clip(0)

    @property
    def remaining_us(self) -> IntArray:
        """Time until no arrival can match the row any more."""
        return np.array(self.keep_us)[self.stream] - self.age_us

    @property
    def matches(self) -> FloatArray:
        """Matches so far; they fade if the ``pace`` of the policy has a decay."""
        return self._met.matches

    @property
    def last_match(self) -> IntArray:
        """Time of the last match; before the first match, the time of the row."""
        return self._met.last_match

    @property
    def partners(self) -> FloatArray:
        """Number of rows of the other stream that each row could be matched with now.

        These are residents that have not expired, and arrivals of the present block.
        """
        return self._around.partners

    @property
    def produced(self) -> FloatArray:
        """Number of partners that are arrivals of the present block."""
        return self._around.produced

    @property
    def last_score(self) -> FloatArray:
        """Score in the block before; NaN for arrivals."""
        return self._around.last_score

    @property
    def waited_us(self) -> IntArray:
        """Time since the row was last scored; 0 for arrivals."""
        return self._around.waited_us

    def partner_count(self) -> FloatArray:
        """Arrivals of the other stream with each row's key; older ones count less."""
        return self.models.partner_count(self.stream, self.key)

    def priority(self) -> FloatArray:
        """Priority of each row, by the frequency of its key and its age.

        It is a mean of results per second from now to a later time, which is chosen so
        that the mean is highest.
        """
        return self.models.priority(self.stream, self.key, self.age_us)

    def priority_by_age(self) -> FloatArray:
        """Priority of each row by its age alone (see :meth:`priority`)."""
        return self.models.priority_by_age(self.stream, self.age_us)

    def expected_matches(self) -> FloatArray:
        """Expected matches of a new row with each row's key, until it expires."""
        return self.models.expected_matches(self.stream, self.key)

    def matches_per_arrival(self) -> FloatArray:
        """Expected matches of an arrival with each row's key, on either stream."""
        return self.models.matches_per_arrival(self.key)

    def cluster_sizes(self) -> FloatArray:
        """Expected matches of new rows with each row's key, scaled to a mean of 1."""
        return self.models.cluster_sizes(self.stream, self.key)

    def value_sizes(self) -> FloatArray:
        """Absolute importance of rows, scaled to a mean of 1, and at least 0.05.

        It is 1 for the rows of a stream without importance.
        """
        return self.models.value_sizes(self.stream, self.importance)

    def size_factor(self) -> FloatArray:
        """Size factor: how often rows of this size match, compared with other rows.

        The other rows are all rows with equally frequent keys.
        """
        return self.models.size_factor(self.stream, self.size)

    def mean_worth(self) -> FloatArray:
        """Mean importance of the results of each row."""
        return self.models.mean_worth(self.stream, self.importance)

    @property
    def outlook(self) -> Outlook:
        """Predictions for samples: the variance of each scheme, and a fraction.

        The fraction is the part of the results for which ``Uniform`` has room.
        """
        return self.models.outlook

    @property
    def models(self) -> AskedModels:
        """The models themselves. The methods above apply them to these rows."""
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

    if not TYPE_CHECKING:  # type checkers report wrong names without this

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an error that lists attributes with names similar to this one."""
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
        """Rows of the first stream, for docstrings; the window is ten seconds.

        Last scores, where given, were computed a second ago.
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
