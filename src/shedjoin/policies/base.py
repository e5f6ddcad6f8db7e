"""The verbs of a policy.

Every scheme of the five papers is a combination of five decisions over *arrays*; a
policy is a frozen dataclass that makes one or two of them. ``docs/decisions/0004``
says how each scheme maps to them, ``docs/how-to/write-a-policy.md`` how to write one.
"""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple, get_args

from shedjoin.errors import ParameterError
from shedjoin.policies.residents import Residents
from shedjoin.spec.capabilities.asked import Family
from shedjoin.spec.throttle import Throttle
from shedjoin.types import BoolArray, FloatArray, IntArray

Ties = Literal["oldest", "newest"]
"""Who leaves first among equal scores."""

READABLE = ("matches", "models", "partners")


class Pace(NamedTuple):
    """When rows may leave, and how their matches count; few policies need another."""

    maturity_us: int = -1
    """Rows up to this age stay while an older one can leave; -1 is no such rule."""

    match_decay: float = 0.0
    """How fast past matches fade, per microsecond; 0 is never."""

    counts_instant_first: bool = True
    """Under ``shed_then_join``: matches of an instant count before it sheds."""


class Policy:
    """What to shed. Every verb has a default that sheds nothing by itself.

    A subclass is a frozen dataclass with slots. It says which of the class variables
    differ, and overrides one or two verbs.
    """

    __slots__ = ()

    ties: ClassVar[Ties] = "oldest"
    dynamic: ClassVar[bool] = False
    """Scores change with time, matches or models, and have to be computed again."""

    reads: ClassVar[tuple[str, ...]] = ()
    """What its verbs read beside the columns of the rows: ``"matches"`` for matches and
    last_match, ``"models"`` for what the operator learns, ``"partners"`` for partners,
    produced, last_score and waited_us. Who reads less is faster: without matches, who
    leaves does not depend on who meets whom, so many arrivals probe at once. For
    partners, all residents look around before every block of arrivals; they and the
    arrivals are then scored together."""

    by_predicates: ClassVar[bool] = False
    """It is for joins by ``Band`` and ``Where``, and for no others."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # ("models") without a comma is a text; a field without ClassVar is neither.
        reads: object = cls.reads
        if not isinstance(reads, tuple) or not set(reads) <= set(READABLE):
            raise ParameterError(
                f"{cls.__name__}.reads = {reads!r} is not known.",
                fix='write reads: ClassVar[tuple[str, ...]] = ("models",), a tuple of '
                '"matches", "models" and "partners".',
            )
        if cls.ties not in get_args(Ties):
            raise ParameterError(
                f"{cls.__name__}.ties = {cls.ties!r} is not known.",
                fix='write ties: ClassVar[Ties] = "oldest", or "newest".',
            )

    @property
    def samples(self) -> bool:
        """Residents are a sample, and results carry their weight."""
        return isinstance(self, SamplingPolicy)

    @property
    def saves_work(self) -> bool:
        """It decides which work is done while a throttle allows less than all."""
        return isinstance(self, LoadPolicy)

    @property
    def family(self) -> Family:
        """Which joins it can be combined with: its rows of the capability table.

        Where results have rows of several streams, or go by predicates, a policy is
        only asked for scores. One that answers more is for pairs of rows.
        """
        verbs = ("admit", "probe", "retain", "first_score")
        asked = [
            getattr(type(self), verb) is not getattr(Policy, verb) for verb in verbs
        ]
        reads = {"matches", "partners"} & set(self.reads)
        is_more = any(asked) or bool(reads) or self.pace != Pace()
        return "pairs" if is_more else "scores"

    @property
    def by_keys(self) -> bool:
        """Rows of frequent keys are worth more to it than others.

        Shards that share a budget then divide it by these keys, else by their rows.
        """
        return bool(self.reads) and not self.samples

    @property
    def is_foreseen(self) -> bool:
        """It can be told which rows it would keep with another budget.

        It goes by scores which do not depend on what is kept.
        """
        held = {"matches", "partners"} & set(self.reads)
        return not held and not self.samples and self.pace == Pace()

    @property
    def pace(self) -> Pace:
        """When rows may leave, and how their matches count."""
        return Pace()

    def admit(self, arrivals: Residents) -> BoolArray | None:
        """Choose the arrivals that take part at all; None is all."""

    def probe(self, arrivals: Residents) -> BoolArray | None:
        """Choose the arrivals that look for matches; None is all."""

    def retain(self, arrivals: Residents) -> FloatArray | None:
        """Probability with which each arrival may be stored; None is 1."""

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row; when the budget is used up the lowest leaves first."""
        return residents.number.astype(float)

    def first_score(self, arrivals: Residents) -> FloatArray:
        """Worth of an arrival until scores are computed again."""
        return self.score(arrivals)


class Chances(NamedTuple):
    """Chances of rows to take part at all, to probe, and to be stored; None is 1."""

    admit: FloatArray | None = None
    probe: FloatArray | None = None
    store: FloatArray | None = None


class LoadPolicy(Policy):
    """Which work is done while a throttle allows less than all of it.

    Beside it another policy may decide who stays within memory. Named by ``keep=`` it
    does that too, by its score: by default the oldest leave.
    """

    __slots__ = ()

    reads: ClassVar[tuple[str, ...]] = ("models",)

    @property
    def family(self) -> Family:
        """It saves the work of joins of two streams by key columns."""
        return "saving"

    @property
    def by_keys(self) -> bool:
        """By default the oldest leave, whatever their keys."""
        return False

    def chances(self, rows: Residents, among: Residents, throttle: Throttle) -> Chances:
        """Chances of rows, with which arrivals such as ``among`` keep to the throttle.

        Asked about arrivals, ``rows`` and ``among`` are the same. When the throttle
        closes it is also asked about residents: they leave unless they would be stored
        now. Every row draws one lot for all three chances, the same whenever it is
        asked about.
        """
        raise NotImplementedError


class SamplingPolicy(Policy):
    """Residents are a sample of the rows, and it is known how likely each was to stay.

    Scores are drawn by lot. Results carry their weight, 1 / the probability with which
    they were kept.
    """

    __slots__ = ()

    thins: ClassVar[bool] = False
    """Not all matches are emitted: :meth:`thin` is asked."""

    tosses: ClassVar[bool] = False
    """Coins are tossed on arrival: :meth:`coins` is asked."""

    @property
    def family(self) -> Family:
        """It samples joins of two streams by key columns."""
        return "sample"

    def inclusion(
        self, score: FloatArray, bar: FloatArray, key: IntArray, number: IntArray
    ) -> FloatArray:
        """Probability of rows to be residents still, if all up to ``bar`` had to go."""
        raise NotImplementedError

    def thin(self, arrivals: Residents) -> FloatArray | None:
        """Probability with which each later match of an arrival is emitted; None is 1.

        Every match of a resident tosses a coin of its own.
        """

    def coins(self, arrivals: Residents) -> IntArray | None:
        """How many matches each arrival is expected to have; None is not said.

        With :meth:`thin`, coins are then tossed for so many matches on arrival, and
        the row is let go after the last one that wins.
        """
