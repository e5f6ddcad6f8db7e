"""A policy gets what it says that it reads, and is told what to say."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from shedjoin.errors import ParameterError
from shedjoin.policies import POLICIES, Policy, Residents, SamplingPolicy
from shedjoin.testing import CHECKS
from shedjoin.types import FloatArray

from .streams import random_arrivals, run

INSTANTS = random_arrivals(3, instants=30, per_instant=3)
OF_MATCHES: dict[str, Callable[[Residents], object]] = {
    "matches": lambda rows: rows.matches,
    "last_match": lambda rows: rows.last_match,
}
OF_MODELS: dict[str, Callable[[Residents], object]] = {
    "partner_count": Residents.partner_count,
    "priority": Residents.priority,
    "priority_by_age": Residents.priority_by_age,
    "expected_matches": Residents.expected_matches,
    "cluster_sizes": Residents.cluster_sizes,
    "value_sizes": Residents.value_sizes,
    "mean_worth": Residents.mean_worth,
    "outlook": lambda rows: rows.outlook,
    "models": lambda rows: rows.models,
}
ALL = OF_MATCHES | OF_MODELS


@dataclass(frozen=True, slots=True)
class Silent(Policy):
    """Asks for something."""

    what: str
    dynamic: ClassVar[bool] = True

    def score(self, residents: Residents) -> FloatArray:
        found = ALL[self.what](residents)
        rows = residents.key.size
        assert not isinstance(found, np.ndarray) or found.shape == (rows,)
        return np.ones(rows)


@dataclass(frozen=True, slots=True)
class OfMatches(Silent):
    reads: ClassVar[tuple[str, ...]] = ("matches",)


@dataclass(frozen=True, slots=True)
class OfModels(Silent):
    reads: ClassVar[tuple[str, ...]] = ("models",)


@dataclass(frozen=True, slots=True)
class OfBoth(Silent):
    reads: ClassVar[tuple[str, ...]] = ("models", "matches")


@pytest.mark.parametrize("what", ALL)
def test_what_is_said_can_be_read(what: str) -> None:
    for policy in (OfBoth(what), (OfMatches if what in OF_MATCHES else OfModels)(what)):
        assert run(INSTANTS, policy, 8, window=9).report.recomputed


@pytest.mark.parametrize("what", ALL)
def test_what_is_not_said_is_refused(what: str) -> None:
    name = "matches" if what in OF_MATCHES else "models"
    with pytest.raises(ParameterError) as caught:
        run(INSTANTS, Silent(what), 8, window=9)
    assert caught.value.problem == f"Silent reads {name} without saying so."
    assert caught.value.fix == f'write reads = ("{name}",) in the class.'


@pytest.mark.parametrize("policy", [OfModels("matches"), OfMatches("outlook")], ids=str)
def test_what_was_said_is_said_again(policy: Policy) -> None:
    with pytest.raises(ParameterError, match=r'reads = \("matches", "models"\) in'):
        run(INSTANTS, policy, 8, window=9)


@pytest.mark.parametrize("name", ["budget", "inputs"])
def test_a_check_tells_what_to_say(name: str) -> None:
    with pytest.raises(ParameterError, match=r"Silent reads models without saying so"):
        CHECKS[name](Silent("priority"))


@pytest.mark.parametrize("said", [("models"), ("match",), ("models", "size")])
def test_reads_has_known_names(said: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError, match=r"Mistaken\.reads = .* is not known"):
        type("Mistaken", (Policy,), {"reads": said})


@pytest.mark.parametrize("kind", POLICIES, ids=lambda kind: kind.__name__)
def test_samples_are_sampling_policies(kind: type[Policy]) -> None:
    assert kind().samples == issubclass(kind, SamplingPolicy)


def test_a_name_that_does_not_exist() -> None:
    """The answer names what is read, by whom, and what there is."""
    rows = Residents.example(time=[0], now_us=1)
    with pytest.raises(AttributeError, match=r"residents\.ages_us.*\nFix: .*age_us"):
        _ = rows.ages_us  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(rows)).now_us == 1
