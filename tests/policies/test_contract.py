"""Every policy keeps the contract, and the contract's checks find those that do not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np
import pytest

from effort import THOROUGH
from shedjoin.errors import ParameterError
from shedjoin.models.learned import Models
from shedjoin.policies import POLICIES, EqCluster, Fifo, Policy, Residents
from shedjoin.testing import CHECKS, Trials, check_policy
from shedjoin.testing.invariant import Parameters
from shedjoin.types import BoolArray, FloatArray, IntArray

STREAMS = {
    "budget": 6,
    "subset": 4,
    "counts": 4,
    "unlimited": 3,
    "restart": 3,
    "batches": 3,
}
GOOD: dict[str, list[Parameters]] = {
    "Rand": [{"seed": 0}, {"seed": 1 << 62}],
    "IJoin": [
        {"penalty": 0.0, "decay": 0.0},
        {"maturity": "0 seconds", "patience": "0 seconds"},
        {"unit": "1 microsecond"},
    ],
}
BAD: dict[str, list[Parameters]] = {
    "Rand": [{"seed": -1}, {"seed": (1 << 62) + 1}, {"seed": 0.5}, {"seed": True}],
    "IJoin": [
        {"penalty": -1e-9},
        {"penalty": float("inf")},
        {"decay": -0.1},
        {"decay": float("inf")},
        {"maturity": "-1 second"},
        {"patience": "-1 second"},
        {"unit": "0 seconds"},
        {"unit": "a while"},
    ],
}


def trials(policy: Policy, streams: int, seed: int = 0) -> Trials:
    name = type(policy).__name__
    return Trials(streams, seed, GOOD.get(name, ()), BAD.get(name, ()))


QUICK = [name for name, check in CHECKS.items() if not check.slow]
EVERY = [
    pytest.param(kind, name, id=f"{kind.__name__}-{name}")
    for place, kind in enumerate(POLICIES)
    for number, name in enumerate(QUICK)
    if THOROUGH or (place + number) % 3 == 0
]
"""Each policy with a third of the checks, and each check with a third of the policies;
all of them by ``make test-all``."""


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_policy(kind: type[Policy], name: str) -> None:
    policy = kind()
    CHECKS[name](policy, trials(policy, STREAMS.get(name, 2)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", POLICIES, ids=lambda kind: kind.__name__)
def test_budget_on_some_streams(kind: type[Policy]) -> None:
    CHECKS["budget"](kind(), Trials(12, seed=1000))


@pytest.mark.long
@pytest.mark.parametrize("kind", POLICIES, ids=lambda kind: kind.__name__)
def test_budget_on_many_streams(kind: type[Policy]) -> None:
    CHECKS["budget"](kind(), Trials(200, seed=1000))


@pytest.mark.long
@pytest.mark.parametrize("name", ["subset", "counts", "restart", "recall", "weights"])
@pytest.mark.parametrize("kind", POLICIES, ids=lambda kind: kind.__name__)
def test_policy_at_length(kind: type[Policy], name: str) -> None:
    CHECKS[name](kind(), Trials(12, seed=2000))


def test_all_invariants_are_there() -> None:
    assert [check.number for check in CHECKS.values()] == list(range(1, 14))


def test_check_policy_runs_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[Trials] = []

    def find(policy: Policy, trials: Trials) -> Iterator[str]:
        assert policy == Fifo()
        ran.append(trials)
        return iter(())

    for name, check in CHECKS.items():
        monkeypatch.setitem(CHECKS, name, replace(check, find=find))
    check_policy(Fifo(), streams=3, seed=5, bad=[{"a": 1}])
    assert ran == 13 * [Trials(3, 5, bad=[{"a": 1}])]
    told = capsys.readouterr().err.splitlines()
    assert told[0] == " 1/13 never more than the budget"
    assert len(told) == 13


@dataclass(frozen=True, slots=True)
class Moody(Policy):
    """Scores that differ from call to call."""

    calls: ClassVar[itertools.count[int]] = itertools.count()

    def score(self, residents: Residents) -> FloatArray:
        return np.random.default_rng(next(self.calls)).random(residents.key.size)


@dataclass(frozen=True, slots=True)
class Scribbler(Policy):
    """Writes into what it is shown."""

    def score(self, residents: Residents) -> FloatArray:
        residents.importance[:] = 0.0
        return residents.importance


@dataclass(frozen=True, slots=True)
class Teacher(Policy):
    """Changes the models."""

    reads: ClassVar[tuple[str, ...]] = ("models",)

    def score(self, residents: Residents) -> FloatArray:
        if residents.key.size:
            models = cast("Models", residents.models)
            models.observe(residents.stream, residents.key, residents.time)
        return residents.time.astype(float)


@dataclass(frozen=True, slots=True)
class Picky(Policy):
    """Sheds though there is room."""

    def admit(self, arrivals: Residents) -> BoolArray:
        return np.asarray(arrivals.number % 2 == 0, np.bool_)


@dataclass(frozen=True, slots=True)
class Careless(Policy):
    """Takes any value."""

    half_life: float = 1.0
    note: str = ""

    bad_parameters: ClassVar[list[Parameters]] = [{"half_life": -1.0}]


@dataclass(frozen=True, slots=True)
class Strict(Policy):
    """Refuses with another error."""

    size: int = 1

    bad_parameters: ClassVar[list[Parameters]] = [{"size": -1}]

    def __post_init__(self) -> None:
        if not self.size >= 0:
            raise ValueError(self.size)


@dataclass(frozen=True, slots=True, repr=False)
class Nameless(Policy):
    """Cannot be written down."""


@dataclass(frozen=True, slots=True)
class Ageing(Policy):
    """Goes by age, which is zero on arrival."""

    def score(self, residents: Residents) -> FloatArray:
        return -residents.age_us.astype(float)


@dataclass(frozen=True, slots=True)
class Counting(Policy):
    """Goes by matches, of which there are none on arrival."""

    reads: ClassVar[tuple[str, ...]] = ("matches",)

    def score(self, residents: Residents) -> FloatArray:
        return residents.matches


@dataclass(frozen=True, slots=True)
class Wavering(Policy):
    """Has second thoughts that nobody asks for."""

    def first_score(self, arrivals: Residents) -> FloatArray:
        return arrivals.time.astype(float)


@dataclass(frozen=True, slots=True)
class Misspelt(Policy):
    """Has a verb of another name."""

    def scores(self, residents: Residents) -> FloatArray:
        return residents.time.astype(float)


@dataclass(frozen=True, slots=True)
class Lasting(Policy):
    """Infinite importance of a row that has no time left."""

    dynamic: ClassVar[bool] = True

    def score(self, residents: Residents) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return residents.importance * residents.remaining_us


@dataclass(frozen=True, slots=True)
class Unasked(EqCluster):
    """Thins and tosses coins without saying so."""

    coin: bool = False

    def thin(self, arrivals: Residents) -> FloatArray | None:
        return None if self.coin else np.ones(arrivals.key.size)

    def coins(self, arrivals: Residents) -> IntArray | None:
        return np.ones(arrivals.key.size, np.int64) if self.coin else None


@dataclass(frozen=True, slots=True)
class Boastful(EqCluster):
    """Says that its rows were likelier to stay than they were."""

    def inclusion(
        self, score: FloatArray, bar: FloatArray, key: IntArray, number: IntArray
    ) -> FloatArray:
        return np.sqrt(EqCluster.inclusion(self, score, bar, key, number))


@pytest.mark.parametrize(
    ("policy", "name", "says"),
    [
        (Moody(), "repeatable", r"invariant 4 .* \[seed=\d+, budget=Budget\("),
        (Scribbler(), "inputs", r"invariant 7 .*read-only in score \(seed=\d+\)"),
        (Teacher(), "inputs", r"invariant 7 .*models were changed in score"),
        (Picky(), "unlimited", r"invariant 3 .* \[seed=\d+, budget=Budget\("),
        (Careless(), "domain", r"invariant 10 .*half_life=-1\.0\) is outside"),
        (Careless(note="x" * 2000), "text", r"invariant 9 .*its pickle has \d+ bytes"),
        (Strict(), "domain", r"invariant 10 .*ValueError.* in place of ParameterError"),
        (Ageing(), "declared", r"invariant 11 .*change with time.*dynamic"),
        (Counting(), "declared", r"invariant 11 .*change with matches.*dynamic"),
        (Wavering(), "declared", r"invariant 11 .*never called.*dynamic"),
        (
            Misspelt(),
            "declared",
            r"the library never calls scores. Is it meant to be score",
        ),
        (Unasked(), "declared", r"invariant 11 .*thin is never called.*thins"),
        (Unasked(coin=True), "declared", r"coins is never called.*tosses"),
        (Nameless(), "text", r"invariant 9 .*its repr cannot be evaluated"),
        (Boastful(), "weights", r"invariant 13 .*weights add up to [\d.]+ on average"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_bad_policy_is_found(policy: Policy, name: str, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        CHECKS[name](policy)


def test_a_window_to_one_side_is_shown() -> None:
    with pytest.raises(ParameterError, match="remaining_us is 0 from the start"):
        CHECKS["declared"](Lasting(), Trials(5))


def test_a_message_hints_at_the_cause() -> None:
    with pytest.raises(AssertionError, match=r"\nPerhaps: a verb draws random numbers"):
        CHECKS["repeatable"](Moody())


def test_good_parameters_that_are_refused_are_found() -> None:
    with pytest.raises(AssertionError, match=r"Rand\(seed=-1\) is in the domain"):
        CHECKS["domain"](POLICIES[1](), Trials(good=[{"seed": -1}]))


def test_an_error_of_a_policy_tells_its_stream() -> None:
    @dataclass(frozen=True, slots=True)
    class Broken(Policy):
        def score(self, residents: Residents) -> FloatArray:
            del residents
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        CHECKS["subset"](Broken())
    assert "seed=0, budget=Budget(" in caught.value.__notes__[0]
