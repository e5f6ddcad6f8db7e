"""Who leaves in odd cases: rows that are too large, infinite scores, ties, coins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, MostResults, Within, local
from shedjoin.errors import ParameterError
from shedjoin.local.run import Run
from shedjoin.policies import Fifo, Pace, Policy, Rand, Recent, Residents, Uniform
from shedjoin.policies.goals import Goal
from shedjoin.policies.samples import EqCluster
from shedjoin.types import FloatArray, IntArray

SECOND = 1_000_000
MINUTE = Within(before="1 minute", after="1 minute")


def stream(
    name: str,
    seconds: Sequence[float] | FloatArray,
    keys: Sequence[int] | IntArray,
    text: Sequence[str] = (),
) -> pa.Table:
    time = np.asarray(np.array(seconds) * SECOND, np.int64) + 1000 * SECOND
    columns = {"k": pa.array(keys, pa.int64())}
    columns[name] = pa.array(time, pa.timestamp("us"))
    if name == "a":
        columns["text"] = pa.array(text or [""] * len(keys), pa.string())
    return pa.table(columns)


NOTHING = stream("b", [], [])


def joined(
    batches: list[tuple[pa.Table, pa.Table]], budget: Budget, keep: Goal | Policy
) -> Run:
    return local.join(
        batches, on="k", within=MINUTE, time=("a", "b"), budget=budget, keep=keep
    )


@pytest.mark.parametrize("keep", [Fifo(), Recent(), Rand(), MostResults()], ids=str)
@pytest.mark.parametrize("split", [None, 0.9])
def test_a_row_larger_than_the_budget_makes_nobody_leave(
    keep: Goal | Policy, split: float | None
) -> None:
    rows = stream("a", np.arange(1000) / 100, range(1000))
    huge = stream("a", [11], [7], ["x" * 3_000_000])
    probes = stream("b", [12] * 1001, [*range(1000), 7])
    batches = [(rows, NOTHING), (huge, NOTHING), (rows[:0], probes)]
    found = joined(batches, Budget(memory="1 MB", split=split), keep)
    first, second, third = (batch.report for batch in found.batches)
    assert first.resident == second.resident == (1000, 0)
    assert (second.refused, second.evicted, second.stored) == (1, 0, (0, 0))
    assert second.shed == (1, 0)
    assert third.matched == 1001


@dataclass(frozen=True, slots=True)
class Priceless(Policy):
    """All rows are worth more than anything, and are spared while they are young."""

    worth: float = np.inf

    @property
    def pace(self) -> Pace:
        return Pace(maturity_us=3 * SECOND)

    def score(self, residents: Residents) -> FloatArray:
        return np.full(residents.key.size, self.worth)


@pytest.mark.parametrize("worth", [np.inf, 1e300])
def test_a_mature_row_leaves_whatever_it_is_worth(worth: float) -> None:
    rows = stream("a", [0, 0.1, 0.2, 4], [1, 2, 3, 4])
    probes = stream("b", [5] * 4, [1, 2, 3, 4])
    batches = [(rows, NOTHING), (rows[:0], probes)]
    found = joined(batches, Budget(rows=2), Priceless(worth))
    assert (found.batches[0].report.refused, found.batches[0].report.evicted) == (1, 1)


@dataclass(frozen=True, slots=True)
class Thinned(EqCluster):
    """A sample of which not all matches are emitted."""

    thins: ClassVar[bool] = True

    def thin(self, arrivals: Residents) -> FloatArray:
        return np.where(arrivals.key % 2 == 0, 0.3, 0.8)


@dataclass(frozen=True, slots=True)
class ThinnedInTurn(Thinned):
    """The same, one arrival after the other."""

    reads: ClassVar[tuple[str, ...]] = ("matches",)


def test_all_that_a_sample_met_is_counted() -> None:
    rng = np.random.default_rng(4)
    batches = [
        (
            stream("a", 9 * part + np.sort(rng.random(300)), rng.integers(0, 9, 300)),
            stream("b", 9 * part + np.sort(rng.random(300)), rng.integers(0, 9, 300)),
        )
        for part in range(3)
    ]
    for budget in (Budget(rows=80), Budget(rows=9000)):
        ahead, in_turn = (
            [batch.report for batch in joined(batches, budget, keep).batches]
            for keep in (Thinned(seed=3), ThinnedInTurn(seed=3))
        )
        assert [one.met for one in ahead] == [one.met for one in in_turn]
        assert [one.matched for one in ahead] == [one.matched for one in in_turn]
        assert all(one.met > one.matched > 0 for one in ahead)
    whole = joined(batches, Budget(rows=9000), Uniform(fraction=1.0, seed=1))
    assert all(one.report.met == one.report.matched > 0 for one in whole.batches)


def test_ties_that_are_not_known() -> None:
    with pytest.raises(ParameterError, match="ties = 'Oldest' is not known"):

        class Capital(Policy):
            ties = "Oldest"  # type: ignore[assignment]


def test_reads_as_a_field() -> None:
    with pytest.raises(ParameterError, match=r"write reads: ClassVar\[tuple"):

        @dataclass(frozen=True, slots=True)
        class Field(Policy):
            reads: tuple[str, ...] = ("models",)  # type: ignore[misc]


@pytest.mark.parametrize(
    "given", [(None,), (1e6,), (-5,), (3, -0.5), (3, None)], ids=str
)
def test_a_pace_that_makes_no_sense(given: tuple[Any, ...]) -> None:
    @dataclass(frozen=True, slots=True)
    class Hasty(Policy):
        @property
        def pace(self) -> Pace:
            return Pace(*given)

    with pytest.raises(ParameterError, match=r"Hasty\.pace is .*\nFix: write Pace"):
        joined([(stream("a", [0], [1]), NOTHING)], Budget(rows=2), Hasty())
