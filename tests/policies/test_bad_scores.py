"""A policy that answers with anything but one number per row is told so.

The error names the policy, the verb and the value or its shape, and how to mend it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pytest

from shedjoin.errors import ParameterError
from shedjoin.policies import EqCluster, Policy, Residents
from shedjoin.policies.samples import ByLot
from shedjoin.spec.recompute import DEFAULT
from shedjoin.testing import CHECKS, Trials, check_policy
from shedjoin.types import FloatArray, IntArray

from .streams import pairs, random_arrivals, run

INSTANTS = random_arrivals(3, instants=30, per_instant=3)
Answer: TypeAlias = npt.NDArray[Any]
Kind = TypeVar("Kind", bound=Answer)

WAYS: dict[str, tuple[Callable[[Answer], Any], str]] = {
    "short": (lambda good: good[:-1], r"\(\d+,\)"),
    "long": (lambda good: np.append(good, good[:1]), r"\(\d+,\)"),
    "empty": (lambda good: good[:0], r"\(0,\)"),
    "single": (lambda good: good[0], r"\(\)|1\.0|\b1\b|True"),
    "column": (lambda good: good[:, None], r"\(\d+, 1\)"),
    "text": (lambda good: good.astype(str), r"<U|str"),
    "objects": (lambda good: np.full(good.size, None), r"object|None"),
    "nan": (lambda good: np.append(good[:-1], np.nan), r"(?i)\bnan\b|float64"),
    "none": (lambda good: None, r"None"),  # noqa: ARG005
}
"""What is wrong, how an answer gets so, and what the message shows of it."""


@dataclass(frozen=True, slots=True)
class BadScore(Policy):
    """Good at first."""

    way: str
    dynamic: ClassVar[bool] = True

    def first_score(self, arrivals: Residents) -> FloatArray:
        return np.ones(arrivals.key.size)

    def score(self, residents: Residents) -> FloatArray:
        return spoilt(self.way, np.ones(residents.key.size))


@dataclass(frozen=True, slots=True)
class BadFirstScore(Policy):
    way: str

    def first_score(self, arrivals: Residents) -> FloatArray:
        return spoilt(self.way, np.ones(arrivals.key.size))


@dataclass(frozen=True, slots=True)
class BadAdmit(Policy):
    way: str

    def admit(self, arrivals: Residents) -> Answer:
        return spoilt(self.way, np.ones(arrivals.key.size, np.bool_))


@dataclass(frozen=True, slots=True)
class BadProbe(Policy):
    way: str

    def probe(self, arrivals: Residents) -> Answer:
        return spoilt(self.way, np.ones(arrivals.key.size, np.bool_))


@dataclass(frozen=True, slots=True)
class BadRetain(Policy):
    way: str

    def retain(self, arrivals: Residents) -> FloatArray:
        return spoilt(self.way, np.ones(arrivals.key.size))


@dataclass(frozen=True, slots=True)
class Sampled(ByLot):
    way: str
    seed: int = 0

    def score(self, residents: Residents) -> FloatArray:
        return EqCluster(self.seed).score(residents)


@dataclass(frozen=True, slots=True)
class BadThin(Sampled):
    thins: ClassVar[bool] = True

    def thin(self, arrivals: Residents) -> FloatArray:
        return spoilt(self.way, np.ones(arrivals.key.size))


@dataclass(frozen=True, slots=True)
class BadCoins(Sampled):
    tosses: ClassVar[bool] = True

    def coins(self, arrivals: Residents) -> IntArray:
        return spoilt(self.way, np.ones(arrivals.key.size, np.int64))


@dataclass(frozen=True, slots=True)
class BadInclusion(Sampled):
    def inclusion(
        self, score: FloatArray, bar: FloatArray, key: IntArray, number: IntArray
    ) -> FloatArray:
        del bar, key, number
        return spoilt(self.way, np.ones(score.size))


BAD: dict[str, type[Any]] = {
    "score": BadScore,
    "first_score": BadFirstScore,
    "admit": BadAdmit,
    "probe": BadProbe,
    "retain": BadRetain,
    "thin": BadThin,
    "coins": BadCoins,
    "inclusion": BadInclusion,
}
MUST_ANSWER = ("score", "first_score", "inclusion")


def spoilt(way: str, good: Kind) -> Kind:
    """Anything but an array of that kind."""
    return cast("Kind", WAYS[way][0](good))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("verb", BAD)
def test_a_bad_answer_is_refused(verb: str, way: str) -> None:
    policy = BAD[verb](way)
    if way == "none" and verb not in MUST_ANSWER:
        run(INSTANTS, policy, 8, window=9)
        return
    with pytest.raises(ParameterError) as caught:
        run(INSTANTS, policy, 8, window=9)
    said = caught.value.problem
    assert type(policy).__name__ in said
    assert f".{verb}" in said or f" {verb}" in said
    assert pytest.raises(ParameterError, match=WAYS[way][1]).matches(caught.value)
    assert caught.value.fix


@pytest.mark.parametrize("way", ["none", "short", "nan"])
def test_check_policy_tells_on_which_stream(way: str) -> None:
    with pytest.raises(ParameterError, match=r"BadFirstScore.*first_score") as caught:
        check_policy(BadFirstScore(way), streams=1)
    assert "seed=0, budget=Budget(" in caught.value.__notes__[0]


def test_nan_comes_with_its_usual_causes() -> None:
    with pytest.raises(ParameterError, match=r"Fix: .*importance is infinite"):
        run(INSTANTS, BadFirstScore("nan"), 8, window=9)


@dataclass(frozen=True, slots=True)
class Boaster(EqCluster):
    """Says that rows were twice as likely to stay as is possible."""

    def inclusion(
        self, score: FloatArray, bar: FloatArray, key: IntArray, number: IntArray
    ) -> FloatArray:
        del bar, key, number
        return np.full(score.size, 2.0)


@pytest.mark.parametrize("name", ["subset", "unlimited"])
def test_weights_below_one_are_found(name: str) -> None:
    with pytest.raises(
        (AssertionError, ParameterError), match=r"weights such as 0\.5|2\.0 among prob"
    ):
        CHECKS[name](Boaster(), Trials(2))


@dataclass(frozen=True, slots=True)
class Worded(Policy):
    """The same numbers, as arrays of other kinds."""

    kind: str

    def score(self, residents: Residents) -> FloatArray:
        return spelt(self.kind, residents.number.astype(np.float64))

    def retain(self, arrivals: Residents) -> FloatArray:
        return spelt(self.kind, np.ones(arrivals.key.size))


@dataclass(frozen=True, slots=True)
class WordedThin(Sampled):
    """The same chances, as arrays of other kinds."""

    thins: ClassVar[bool] = True

    def thin(self, arrivals: Residents) -> FloatArray:
        return spelt(self.way, np.ones(arrivals.key.size))


def spelt(kind: str, numbers: FloatArray) -> FloatArray:
    if kind == "whole":
        return cast("FloatArray", numbers.astype(np.int32))
    if kind == "strided":
        return np.repeat(numbers, 2)[::2]
    numbers.flags.writeable = kind != "read-only"
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["whole", "strided", "read-only"])
@pytest.mark.parametrize("policy", [Worded, WordedThin])
def test_numbers_of_any_kind_will_do(policy: type[Any], kind: str) -> None:
    plain, other = (run(INSTANTS, policy(name), 8, window=9) for name in ("", kind))
    assert pairs(plain) == pairs(other)


@dataclass(frozen=True, slots=True)
class OneRoom(Policy):
    """Rare keys leave; all answers lie in the same room, or each in its own."""

    own: bool
    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("models",)
    room: ClassVar[FloatArray] = np.zeros(1 << 12)

    def score(self, residents: Residents) -> FloatArray:
        room = np.empty(1 << 12) if self.own else self.room
        score = room[: residents.key.size]
        score[:] = residents.partner_count()
        score += residents.number * 1e-6
        return score


def test_an_answer_may_be_overwritten_by_the_next() -> None:
    instants = random_arrivals(3, instants=400, keys=20, per_instant=3)
    one, other = (
        run(instants, OneRoom(own), 60, window=99, recompute=DEFAULT, per_batch=80)
        for own in (False, True)
    )
    assert pairs(one) == pairs(other)


@dataclass(frozen=True, slots=True)
class OddKeys(Policy):
    """Odd keys alone take part and look, as truth values or as 0 and 1."""

    kind: str

    def admit(self, arrivals: Residents) -> Answer:
        return np.asarray(arrivals.key % 2 == 1, self.kind)

    def probe(self, arrivals: Residents) -> Answer:
        return self.admit(arrivals)


@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_zero_and_one_are_not_taken_for_positions(kind: str) -> None:
    run(INSTANTS, OddKeys("bool"), 8, window=9)
    with pytest.raises(ParameterError, match=rf"OddKeys\.(admit|probe) .*{kind}"):
        run(INSTANTS, OddKeys(kind), 8, window=9)
