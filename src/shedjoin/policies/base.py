"""Base classes of policies, and the decisions that policies make.

There are five decisions, and every scheme of the five papers combines some of them. A
decision is a method of a policy, called a verb. A verb takes and returns arrays with
one value for each row. A policy is a frozen dataclass that overrides one or two verbs.
``docs/decisions/0004`` describes how the schemes map to verbs.
``docs/how-to/write-a-policy.md`` shows how to write a policy.
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
    """When rows may be shed, and how their matches count.

    The default suits most policies.
    """

    maturity_us: int = -1
    """Rows up to this age stay while an older row can be shed. With -1, any row may be
    shed."""

    match_decay: float = 0.0
    """Rate at which past matches fade, per microsecond. With 0, they do not fade."""

    counts_instant_first: bool = True
    """Under the discipline ``shed_then_join``: whether the matches of an instant count
    before the rows of this instant are shed."""


class Policy:
    """Base class: decides which rows are shed. By default, the oldest rows are shed.

    A subclass is a frozen dataclass with slots. It sets the class variables that differ
    from the defaults, and overrides one or two verbs.
    """

    __slots__ = ()

    ties: ClassVar[Ties] = "oldest"
    dynamic: ClassVar[bool] = False
    """Whether scores change with time, matches or models. If so, the join computes them
    again from time to time."""

    reads: ClassVar[tuple[str, ...]] = ()
    """What the verbs read in addition to the columns of the rows. ``"matches"`` are the
    attributes matches and last_match, and ``"models"`` are all estimates of models.
    ``"partners"`` are partners, produced, last_score and waited_us. A policy that reads
    less is faster. If it does not read matches, many arrivals are joined at once,
    because matches do not decide which rows are shed. If it reads partners, the
    partners of all rows are counted before every block of arrivals. Then residents and
    arrivals are scored together."""

    by_predicates: ClassVar[bool] = False
    """Whether the policy is for joins by ``Band`` and ``Where``, and for no others."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # Two mistakes are found here: ("models") without a comma is a str, and reads
        # without ClassVar is a field of the dataclass, and so a slot.
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
        """Whether residents are a sample, so that every result has a weight."""
        return isinstance(self, SamplingPolicy)

    @property
    def saves_work(self) -> bool:
        """Whether the policy decides which work is done while a throttle is active."""
        return isinstance(self, LoadPolicy)

    @property
    def family(self) -> Family:
        """Family of the policy, which is the row of the capability table that applies.

        Joins of more than two streams, and joins by predicates, call ``score`` only. So
        a policy that overrides other verbs, or reads matches or partners, is only for
        joins of two streams by key.
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

        If so, shards divide a shared budget by their frequent keys. Otherwise, they
        divide it by the number of their rows.
        """
        return bool(self.reads) and not self.samples

    @property
    def is_foreseen(self) -> bool:
        """Whether it can be predicted which rows another budget would keep.

        This is possible if scores do not depend on which rows are kept.
        """
        held = {"matches", "partners"} & set(self.reads)
        return not held and not self.samples and self.pace == Pace()

    @property
    def pace(self) -> Pace:
        """When rows may be shed, and how their matches count."""
        return Pace()

    def admit(self, arrivals: Residents) -> BoolArray | None:
        """Choose the arrivals that are joined or stored at all; None means all."""

    def probe(self, arrivals: Residents) -> BoolArray | None:
        """Choose the arrivals that look for matches; None means all."""

    def retain(self, arrivals: Residents) -> FloatArray | None:
        """Probability with which each arrival may be stored; None means 1."""

    def score(self, residents: Residents) -> FloatArray:
        """Score of each row; when the budget is used up, the lowest is shed first."""
        return residents.number.astype(float)

    def first_score(self, arrivals: Residents) -> FloatArray:
        """Score of each arrival, which holds until scores are computed again."""
        return self.score(arrivals)


class Chances(NamedTuple):
    """Probabilities that rows take part, look for matches, and are stored.

    None means 1.
    """

    admit: FloatArray | None = None
    probe: FloatArray | None = None
    store: FloatArray | None = None


class LoadPolicy(Policy):
    """Decides which work is done while a throttle allows less than all work.

    Another policy may decide which rows are kept within the memory. If ``keep=`` names
    the load policy itself, its score decides. By default, the oldest rows are shed.
    """

    __slots__ = ()

    reads: ClassVar[tuple[str, ...]] = ("models",)

    @property
    def family(self) -> Family:
        """Family of the policies that save work of joins of two streams by key."""
        return "saving"

    @property
    def by_keys(self) -> bool:
        """False, because by default the oldest rows are shed, whatever their keys."""
        return False

    def chances(self, rows: Residents, among: Residents, throttle: Throttle) -> Chances:
        """Probabilities of ``rows``, such that the work stays within the throttle.

        The probabilities are computed from ``among``, the arrivals of a block. Usually,
        ``rows`` and ``among`` are the same. When the throttle closes, the method is
        also called with residents as ``rows``. Residents are dropped unless they would
        be stored now. Each row has one lot, which is compared with all three
        probabilities, and is the same in each call.
        """
        raise NotImplementedError


class SamplingPolicy(Policy):
    """Keeps a sample of the rows, each with a known probability.

    Scores depend on lots, which are hashes between 0 and 1. Every result has a weight:
    1 divided by the probability with which it was kept.
    """

    __slots__ = ()

    thins: ClassVar[bool] = False
    """Whether some matches are not emitted. If so, :meth:`thin` is called."""

    tosses: ClassVar[bool] = False
    """Whether coins are tossed when a row comes. If so, :meth:`coins` is called."""

    @property
    def family(self) -> Family:
        """Family of the policies that sample joins of two streams by key columns."""
        return "sample"

    def inclusion(
        self, score: FloatArray, bar: FloatArray, key: IntArray, number: IntArray
    ) -> FloatArray:
        """Probability that each row is still a resident.

        ``bar`` is the highest score that was shed since the row came.
        """
        raise NotImplementedError

    def thin(self, arrivals: Residents) -> FloatArray | None:
        """Probability with which each later match of an arrival is emitted.

        None means 1. A coin is tossed for every match of a resident.
        """

    def coins(self, arrivals: Residents) -> IntArray | None:
        """Expected number of matches of each arrival; None if it is not estimated.

        With :meth:`thin`, this is the number of coins that are tossed when a row comes.
        Each coin decides whether one of the expected matches is emitted. The row is
        dropped after the last match that its coins select.
        """
