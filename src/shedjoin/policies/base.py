"""Base classes of policies, and the decisions that policies make.

Every scheme of the five papers combines some of five decisions over *arrays*. Each
decision is a method, called a verb. A policy is a frozen dataclass that overrides one
or two verbs. ``docs/decisions/0004`` describes how the schemes map to verbs, and
``docs/how-to/write-a-policy.md`` how to write a policy.
"""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple, get_args

from shedjoin.errors import ParameterError
from shedjoin.policies.residents import Residents
from shedjoin.spec.capabilities.asked import Family
from shedjoin.spec.throttle import Throttle
from shedjoin.types import BoolArray, FloatArray, IntArray

Ties = Literal["oldest", "newest"]
"""Which of the rows with equal scores is shed first."""

READABLE = ("matches", "models", "partners")


class Pace(NamedTuple):
    """When rows may be shed, and how their matches count; the default suits most."""

    maturity_us: int = -1
    """Rows up to this age stay while an older one can be shed; -1 is no such rule."""

    match_decay: float = 0.0
    """How fast past matches fade, per microsecond; 0 is not at all."""

    counts_instant_first: bool = True
    """Whether matches of an instant count before it sheds, under ``shed_then_join``."""


class Policy:
    """Decides which rows are shed. By default no verb drops a row on its own.

    A subclass is a frozen dataclass with slots. It sets the class variables that differ
    from the defaults, and overrides one or two verbs.
    """

    __slots__ = ()

    ties: ClassVar[Ties] = "oldest"
    dynamic: ClassVar[bool] = False
    """Whether scores change with time, matches or models: they are computed again."""

    reads: ClassVar[tuple[str, ...]] = ()
    """What the verbs read beside the columns of the rows: ``"matches"`` for matches and
    last_match, ``"models"`` for what the join learns, ``"partners"`` for partners,
    produced, last_score and waited_us. A policy that reads less is faster. Without
    matches, the rows that are shed do not depend on which rows match, so many arrivals
    probe at once. For partners, those of all residents are counted before every block
    of arrivals, and residents and arrivals are then scored together."""

    by_predicates: ClassVar[bool] = False
    """Whether the policy is for joins by ``Band`` and ``Where``, and for no others."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # ("models") without a comma is a str. Without ClassVar, the slot is found here.
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
        """Whether residents are a sample, and results carry their weight."""
        return isinstance(self, SamplingPolicy)

    @property
    def saves_work(self) -> bool:
        """Whether it decides which work is done while a throttle is in force."""
        return isinstance(self, LoadPolicy)

    @property
    def family(self) -> Family:
        """Family of the policy: its rows in the capability table.

        Joins of several streams and joins by predicates call ``score`` alone. A policy
        that overrides other verbs, or reads matches or partners, is for pairs of rows.
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
        """Whether rows of frequent keys have higher scores than others.

        If so, shards divide a shared budget by frequent keys, else by their rows.
        """
        return bool(self.reads) and not self.samples

    @property
    def is_foreseen(self) -> bool:
        """Whether it can be predicted which rows another budget would keep.

        It can if scores do not depend on which rows are kept.
        """
        held = {"matches", "partners"} & set(self.reads)
        return not held and not self.samples and self.pace == Pace()

    @property
    def pace(self) -> Pace:
        """When rows may be shed, and how their matches count."""
        return Pace()

    def admit(self, arrivals: Residents) -> BoolArray | None:
        """Choose the arrivals that take part at all; None is all."""

    def probe(self, arrivals: Residents) -> BoolArray | None:
        """Choose the arrivals that look for matches; None is all."""

    def retain(self, arrivals: Residents) -> FloatArray | None:
        """Probability with which each arrival may be stored; None is 1."""

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row; when the budget is used up, the lowest is shed first."""
        return residents.number.astype(float)

    def first_score(self, arrivals: Residents) -> FloatArray:
        """Worth of an arrival until scores are computed again."""
        return self.score(arrivals)


class Chances(NamedTuple):
    """Probabilities that rows take part, probe, and are stored; None is 1."""

    admit: FloatArray | None = None
    probe: FloatArray | None = None
    store: FloatArray | None = None


class LoadPolicy(Policy):
    """Decides which work is done while a throttle allows less than all of it.

    Another policy may decide which rows are kept within the memory. If ``keep=`` names
    the load policy, its own score decides that: by default the oldest rows are shed.
    """

    __slots__ = ()

    reads: ClassVar[tuple[str, ...]] = ("models",)

    @property
    def family(self) -> Family:
        """Family of the policies that save work of joins of two streams by key."""
        return "saving"

    @property
    def by_keys(self) -> bool:
        """False: by default the oldest rows are shed, whatever their keys."""
        return False

    def chances(self, rows: Residents, among: Residents, throttle: Throttle) -> Chances:
        """Probabilities of rows that keep arrivals such as ``among`` to the throttle.

        For arrivals, ``rows`` and ``among`` are the same. When the throttle closes, the
        method is also called for residents: they are dropped unless they would be
        stored now. Every row draws one lot for all three probabilities, and draws the
        same lot each time.
        """
        raise NotImplementedError


class SamplingPolicy(Policy):
    """Keeps a sample of the rows, each with a known probability.

    Scores are drawn by lot. Results carry their weight, 1 / the probability with which
    they were kept.
    """

    __slots__ = ()

    thins: ClassVar[bool] = False
    """Whether some matches are not emitted: :meth:`thin` is then called."""

    tosses: ClassVar[bool] = False
    """Whether coins are tossed on arrival: :meth:`coins` is then called."""

    @property
    def family(self) -> Family:
        """Family of the policies that sample joins of two streams by key columns."""
        return "sample"

    def inclusion(
        self, score: FloatArray, bar: FloatArray, key: IntArray, number: IntArray
    ) -> FloatArray:
        """Probability that rows are still residents, if scores up to bar were shed."""
        raise NotImplementedError

    def thin(self, arrivals: Residents) -> FloatArray | None:
        """Probability with which each later match of an arrival is emitted; None is 1.

        Every match of a resident tosses a coin of its own.
        """

    def coins(self, arrivals: Residents) -> IntArray | None:
        """Expected number of matches of each arrival; None if it is not estimated.

        With :meth:`thin`, that many coins are tossed on arrival, and the row is dropped
        after the last match whose coin wins.
        """
