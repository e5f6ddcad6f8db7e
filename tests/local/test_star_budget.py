"""Joins through a relation under a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from effort import cases
from shedjoin import (
    Adaptive,
    Budget,
    MostImportant,
    MostResults,
    Successive,
    Within,
    local,
)
from shedjoin.errors import ParameterError
from shedjoin.lab.offline import StarArchive, star_optimum
from shedjoin.local.shard import LocalShard
from shedjoin.policies import (
    Dgl,
    DimpProb,
    Expected,
    Fifo,
    Greedy,
    Harvest,
    IJoin,
    Policy,
    Prob,
    Rand,
    Residents,
    Simp,
    SimpProb,
    Size,
    Uniform,
)
from shedjoin.policies.goals import shedding_of
from shedjoin.types import FloatArray
from support.asked import asked
from support.related import star_join

from .test_star_join import (
    ON,
    SECOND,
    WITHIN,
    World,
    expected,
    facts_of,
    found,
    joined,
    table,
    world,
)

AMPLE = Budget(rows=10_000)
POLICIES = [
    Simp(),
    SimpProb(),
    DimpProb(),
    Dgl(),
    Rand(),
    Fifo(),
    Greedy(),
    Prob(),
    Expected(),
    Size(),
    IJoin(),
]
FIRST = 100
LEFT = [(1, 5), (0, 1), (1, 4), (0, 8), (2, 3), (5, 2)]
RIGHT = [(1, 1), (3, 5), (3, 2), (8, 6), (3, 4), (5, 3)]
RELATION: list[tuple[int, int, Any, Any]] = [
    (0, 3, -1, None),
    (1, 5, -1, None),
    (0, 8, -1, None),
    (4, 5, -1, None),
    (1, 3, -1, 5),
    (5, 8, 3, None),
]
"""The example of the paper: (value, importance) at each instant, and (a, b, begin,
end)."""


def seconds(values: list[Any]) -> pa.Array:
    times = [None if v is None else SECOND * (FIRST + int(v)) for v in values]
    return pa.array(times, pa.timestamp("us"))


def stream(key: str, rows: Sequence[tuple[int, float]]) -> pa.Table:
    return pa.table(
        {
            "t": seconds(list(range(len(rows)))),
            key: pa.array([value for value, _ in rows], pa.int64()),
            f"{key}_id": range(len(rows)),
            "importance": pa.array([float(worth) for _, worth in rows], pa.float64()),
        }
    )


def facts(rows: list[tuple[int, int, Any, Any]]) -> pa.Table:
    a, b, begin, end = (list(each) for each in zip(*rows, strict=True))
    keys = pa.array(a, pa.int64()), pa.array(b, pa.int64())
    return pa.table([*keys, seconds(begin), seconds(end)], ["a", "b", "from", "to"])


def shed(
    left: pa.Table,
    right: pa.Table,
    rows: pa.Table,
    policy: Policy,
    memory: int,
    m: int,
    **settings: Any,  # noqa: ANN401
) -> tuple[int, float]:
    """Results and importance, in the paper's order."""
    given: dict[str, Any] = {"discipline": "shed_then_probe", "recompute": Successive()}
    run = star_join(
        [(left, right)],
        rows,
        on=ON,
        within=Within(before=f"{m - 1} seconds", after=f"{m - 1} seconds"),
        time=("t", "t"),
        valid=("from", "to"),
        budget=Budget(rows=memory, split=0.5),
        keep=MostImportant("importance", by=policy),
        **(given | settings),
    )
    worth = np.minimum(
        run.results["importance_left"].to_numpy(),
        run.results["importance_right"].to_numpy(),
    )
    assert run.report.importance == pytest.approx(worth.sum())
    return run.results.num_rows, float(worth.sum())


def without_newcomers(rows: Residents) -> Residents:
    """The other reading of mn: rows of the same instant are no partners."""
    around = rows.around
    assert around is not None
    partners = around.partners - around.produced
    return replace(rows, around=around._replace(partners=partners))


@dataclass(frozen=True, slots=True)
class OtherSimpProb(SimpProb):
    def score(self, residents: Residents) -> FloatArray:
        return SimpProb().score(without_newcomers(residents))


@dataclass(frozen=True, slots=True)
class OtherDimpProb(DimpProb):
    def score(self, residents: Residents) -> FloatArray:
        return DimpProb().score(without_newcomers(residents))


@dataclass(frozen=True, slots=True)
class OtherDgl(Dgl):
    def score(self, residents: Residents) -> FloatArray:
        return Dgl(alpha=self.alpha).score(without_newcomers(residents))


@pytest.mark.parametrize(
    ("policy", "golden"),
    [
        (Simp(), (9, 31)),
        (SimpProb(), (11, 37)),
        (DimpProb(), (9, 31)),
        (Dgl(alpha=4.0, beta=1.0), (9, 31)),
        (Dgl(), (9, 31)),
        (OtherSimpProb(), (11, 38)),
        (OtherDimpProb(), (9, 31)),
        (OtherDgl(alpha=4.0), (11, 38)),
    ],
    ids=repr,
)
def test_the_example_of_the_paper(policy: Policy, golden: tuple[int, float]) -> None:
    """The last three do not count rows of the same instant as partners."""
    left, right = stream("a", LEFT), stream("b", RIGHT)
    assert shed(left, right, facts(RELATION), policy, memory=4, m=4) == golden
    assert shed(left, right, facts(RELATION), policy, memory=100, m=4) == (15, 43)


@pytest.mark.parametrize(
    ("policy", "golden"),
    [
        (Simp(), (11, 34)),
        (SimpProb(), (14, 42)),
        (DimpProb(), (11, 34)),
        (Dgl(alpha=4.0, beta=1.0), (10, 32)),
    ],
    ids=repr,
)
def test_the_example_if_all_probe_first(
    policy: Policy, golden: tuple[int, float]
) -> None:
    """Who leaves has met the arrivals of that instant: this may exceed the optimum."""
    left, right = stream("a", LEFT), stream("b", RIGHT)
    found = shed(
        *(left, right, facts(RELATION), policy),
        memory=4,
        m=4,
        discipline="probe_then_shed",
    )
    assert found == golden


def drawn(seed: int, rows: int = 40) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Streams of one row each at every instant, and a relation that comes and goes."""
    rng = np.random.default_rng(seed)
    tables = []
    for key in "ab":
        values = rng.integers(0, 5, rows).tolist()
        worth = rng.integers(1, 9, rows).tolist()
        tables.append(stream(key, list(zip(values, worth, strict=True))))
    chosen: list[tuple[int, int, Any, Any]] = []
    for pair in rng.permutation(25)[:8].tolist():
        begin, end = sorted(rng.integers(-1, rows, 2).tolist())
        always = rng.random() < 0.5
        last = None if always else end
        chosen.append((pair // 5, pair % 5, -1 if always else begin, last))
    return tables[0], tables[1], facts(chosen)


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_no_policy_is_above_the_optimum(first: int) -> None:
    near = []
    for seed in range(first, first + cases(10)):
        left, right, rows = drawn(seed)
        archive = StarArchive(
            *(left, right, rows),
            on=ON,
            within=timedelta_of(5),
            time=("t", "t"),
            importance="importance",
            valid=("from", "to"),
        )
        best = star_optimum(archive, rows=6).parts
        most = star_optimum(archive, rows=6, most="results").parts
        for policy in POLICIES:
            size, worth = shed(left, right, rows, policy, memory=6, m=6)
            assert worth <= best.importance + 1e-9
            assert size <= most.size
            near.append(worth / max(best.importance, 1.0))
    assert 0.5 < np.mean(near) <= 1.0


def timedelta_of(whole: int) -> Any:  # noqa: ANN401
    return np.timedelta64(whole, "s").astype("timedelta64[us]").item()


@pytest.mark.parametrize("policy", [None, MostResults(), Dgl(), Prob()], ids=repr)
def test_nothing_is_lost_while_the_budget_suffices(policy: Any) -> None:  # noqa: ANN401
    for seed in range(cases(25)):
        case = world(seed, late=seed % 3)
        text, shards = bool(seed % 2), 1 + seed % 3
        run = joined(
            case,
            text,
            shards=shards,
            restart_every=seed % 4,
            budget=AMPLE,
            keep=policy,
        )
        exact = joined(case, text, shards=shards)
        assert found(run) == expected(case, facts_of(case.changes)), seed
        assert not any(run.report.shed)
        for name in ("seen", "late", "resident", "changes", "changes_late", "relation"):
            assert getattr(run.report, name) == getattr(exact.report, name), name
        told = run.report
        assert (told.recall_state, told.measured) == ("exact", told.matched)


def large(seed: int) -> World:
    return world(seed, batches=16, keys=5, late=seed % 3)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_what_is_kept_depends_on_nothing_but_the_rows(policy: Policy) -> None:
    """Restarts, the order of delivery and other buckets change nothing."""
    was_shed = 0
    for seed in range(2 * cases(3)):
        case = large(seed)
        settings: dict[str, Any] = {
            "budget": Budget(rows=7) if seed % 2 else Budget(rows=8, split=0.5),
            "keep": policy,
            "discipline": "shed_then_probe" if seed % 3 else "probe_then_insert",
        }
        one = joined(case, **settings)
        want = expected(case, facts_of(case.changes))
        assert found(one) <= want
        for batch in one.batches:
            assert sum(batch.report.resident) <= 8
        if "partners" in policy.reads:
            assert one.report.recomputed > 0
        again = joined(case, restart_every=1, **settings)
        assert found(again) == found(one), (seed, policy)
        assert again.state_digests == one.state_digests
        few, others = (
            joined(case, blobs=3, shuffle_seed=n, bucket_seed=n, **settings)
            for n in range(2)
        )
        assert found(few) == found(others)
        was_shed += sum(one.report.shed)
    assert was_shed > 30


@pytest.mark.parametrize("keep", [MostResults(), Dgl()], ids=repr)
def test_a_budget_in_bytes(keep: Any) -> None:  # noqa: ANN401
    for seed in range(4):
        case = large(seed)
        run = joined(case, budget=Budget(memory=3000), keep=keep, text=bool(seed % 2))
        assert any(run.report.shed)
        assert found(run) <= expected(case, facts_of(case.changes))
        assert max(batch.report.state_bytes for batch in run.batches) <= 3000


def test_rows_without_a_relation_row_take_no_room() -> None:
    """And are not shed: nothing is lost with them."""
    left = table([(n, n % 50, 100 + n // 10) for n in range(100)], "a", False)
    right = table([(n, n % 50, 100 + n // 10) for n in range(100)], "b", False)
    rows = pa.table({"a": [1, 2], "b": [2, 3]})
    settings: dict[str, Any] = {"on": ON, "within": WITHIN, "time": ("t", "t")}
    exact = star_join([(left, right)], rows, **settings)
    run = star_join([(left, right)], rows, budget=Budget(rows=8), **settings)
    assert found(run) == found(exact) != Counter()
    assert run.report.shed == (0, 0)
    assert run.report.stored == exact.report.stored


def test_models_follow_the_relation() -> None:
    """A left key is worth what comes of the right keys that go with it."""
    rng = np.random.default_rng(4)
    batches = []
    for number in range(30):
        times = (100 + 2 * number + np.sort(rng.integers(0, 2, 40))).tolist()
        ids = range(40 * number, 40 * number + 40)
        any_key = rng.integers(0, 40, (2, 40))
        hot = np.where(rng.random(40) < 0.7, 99, any_key[1])
        left = list(zip(ids, any_key[0].tolist(), times, strict=True))
        right = list(zip(ids, hot.tolist(), times, strict=True))
        batches.append((table(left, "a", False), table(right, "b", False)))
    rows = pa.table({"a": [*range(40), 0, 1, 2], "b": [*range(40), 99, 99, 99]})
    settings: dict[str, Any] = {"on": ON, "within": WITHIN, "time": ("t", "t")}
    counts = {}
    for policy in (Prob(), Expected(), Dgl(), Rand(seed=1)):
        run = star_join(batches, rows, budget=Budget(rows=60), keep=policy, **settings)
        counts[type(policy)] = run.report.matched
        told = run.report.recall
        exact = star_join(batches, rows, **settings).report.matched
        assert told == pytest.approx(run.report.matched / exact, abs=0.15)
    assert min(counts[Prob], counts[Expected], counts[Dgl]) > 2 * counts[Rand]


def test_recall_is_not_known_if_relation_rows_come_late() -> None:
    """Rows that were shed before would have been related, and nobody counted them."""
    batches = []
    for number in range(24):
        ids = range(20 * number, 20 * number + 20)
        rows = [(n, n % 5, 100 + 2 * number + n % 2) for n in ids]
        batches.append((rows, rows, [("insert", k, k, 90) for k in range(5)]))
    for late in (0, 3):
        changes = [own if n == late else [] for n, (_, _, own) in enumerate(batches)]
        case = World([b[0] for b in batches], [b[1] for b in batches], changes)
        told = {}
        for memory in (60, 10_000):
            run = joined(case, delay="10 seconds", budget=Budget(rows=memory))
            told[memory] = [batch.report.recall for batch in run.batches]
        assert told[10_000] == [1.0] * len(batches)
        unknown = [n for n, value in enumerate(told[60]) if value is None]
        assert late in unknown if late else unknown == []
        assert not late or len(unknown) < len(batches) - late  # known again


@pytest.mark.parametrize("rows", [33, 64, 150])
def test_rows_of_one_instant_all_meet(rows: int) -> None:
    """However many they are, and whoever of them is shed."""
    pair = [[(n, 1, 100) for n in range(rows)]] * 2
    left, right = (table(r, key, False) for r, key in zip(pair, "ab", strict=True))
    settings: dict[str, Any] = {
        "within": WITHIN,
        "time": ("t", "t"),
        "budget": Budget(rows=10, split=0.5),
        "discipline": "shed_then_probe",
    }
    one = pa.table({"a": [1], "b": [1]})
    for keep in (Fifo(), Size(), Dgl()):
        run = star_join([(left, right)], one, on=ON, keep=keep, **settings)
        assert run.report.matched == run.results.num_rows == rows**2
        other = right.rename_columns(["b_id", "a", "t"])
        run = local.join([(left, other)], on="a", keep=keep, **asked(settings))
        assert run.report.matched == run.results.num_rows == rows**2


@pytest.mark.parametrize("policy", [SimpProb(), DimpProb(), Dgl()], ids=repr)
def test_scores_that_are_due_by_what_is_gained(policy: Policy) -> None:
    """Those who look around are scored before every block, whatever is due."""
    for seed in range(4):
        budget = Budget(rows=5)
        run = joined(large(seed), recompute=Adaptive(), budget=budget, keep=policy)
        assert any(run.report.shed)


def test_recall_with_skewed_keys() -> None:
    """Policies that look around favour keys that may not be monitored."""
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, 2001)
    sides = []
    for name in "lr":
        time = pa.array(np.arange(12_000) * 1000 + SECOND, pa.timestamp("us"))
        keys = rng.choice(2000, 12_000, p=share / share.sum())
        sides.append(pa.table({"k": keys, name: time}))
    batches = [
        (sides[0].slice(n, 2000), sides[1].slice(n, 2000))
        for n in range(0, 12_000, 2000)
    ]
    within = Within(before="3 seconds", after="3 seconds")
    settings: dict[str, Any] = {"on": "k", "within": within, "time": ("l", "r")}
    exact = local.join(batches, **settings).report.matched
    for policy in (SimpProb(), DimpProb(), Dgl()):
        run = local.join(batches, budget=Budget(rows=600), keep=policy, **settings)
        told = run.report.recall
        assert told == pytest.approx(run.report.matched / exact, abs=0.1)


def test_popular_keys_are_looked_up_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many relation rows may have one key that not all are in memory at once."""
    rng = np.random.default_rng(3)
    left = table([(n, n % 3, 100 + n // 40) for n in range(300)], "a", False)
    keys = rng.integers(0, 50, 300).tolist()
    right = table([(n, keys[n], 100 + n // 40) for n in range(300)], "b", False)
    hub = pa.table({"a": np.repeat(np.arange(3), 50), "b": np.tile(np.arange(50), 3)})
    settings: dict[str, Any] = {"on": ON, "within": WITHIN, "time": ("t", "t")}
    exact = found(star_join([(left, right)], hub, **settings))
    for module in ("rounds", "partners"):
        monkeypatch.setattr(f"shedjoin.operators.budgeted.{module}.LOOKS", 400)
    for keep in (Fifo(), Dgl(), MostResults()):
        run = star_join([(left, right)], hub, budget=AMPLE, keep=keep, **settings)
        assert found(run) == exact


@dataclass(frozen=True, slots=True)
class Unsaid(Policy):
    dynamic: ClassVar[bool] = True

    def score(self, residents: Residents) -> FloatArray:
        return residents.partners


def test_what_is_refused() -> None:
    case = world(1)
    for keep, match in ((Uniform(), "draws a sample"), (Harvest(), "by Band or Where")):
        with pytest.raises(ParameterError, match=match):
            joined(case, budget=Budget(rows=5), keep=keep)
    with pytest.raises(ParameterError, match="limits time"):
        joined(case, budget=Budget(cpu=0.5))
    with pytest.raises(ParameterError, match=r'reads = \("partners",\)'):
        joined(case, budget=Budget(rows=5), keep=Unsaid())
    with pytest.raises(ParameterError, match="without a budget"):
        joined(case, keep=Dgl())


def restarted_with(
    monkeypatch: pytest.MonkeyPatch, budgets: Sequence[Budget | None]
) -> None:
    """Have each restart of a shard take the next budget, over and over."""
    original, turns = LocalShard.restart, Counter[LocalShard]()

    def restart(self: LocalShard) -> None:
        turns[self] += 1
        budget = budgets[turns[self] % len(budgets)]
        shedding = None
        if budget is not None:
            shedding = shedding_of(budget, MostResults())
        self._spec = self._started = replace(self._started, shedding=shedding)
        original(self)

    monkeypatch.setattr(LocalShard, "restart", restart)


@pytest.mark.parametrize("every", [1, 2, 3])
def test_a_budget_comes_and_goes(monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    restarted_with(monkeypatch, [AMPLE, None])
    results = 0
    for seed in range(cases(20)):
        case = world(seed, batches=12, late=seed % 3)
        want = expected(case, facts_of(case.changes))
        text, shards = bool(seed % 2), 1 + seed % 3
        run = joined(
            *(case, text), shards=shards, restart_every=every, budget=AMPLE, keep=None
        )
        assert found(run) == want, seed
        exact = joined(case, text, shards=shards)
        assert run.report.changes_late == exact.report.changes_late
        assert run.report.resident == exact.report.resident
        results += want.total()
    assert results > 30


def test_a_budget_that_was_too_small_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it shed is missing until the window has passed, and that is said."""
    restarted_with(monkeypatch, [Budget(rows=8), None, None])
    unknown = whole = 0
    for seed in range(12):
        case = large(seed)
        run = joined(case, restart_every=4, budget=Budget(rows=8), keep=None)
        exact = joined(case)
        assert found(run) <= found(exact)
        for number, (one, other) in enumerate(
            zip(run.batches, exact.batches, strict=True)
        ):
            report = one.report
            if number // 4 % 3 == 0:
                assert sum(report.resident) <= 8
            elif report.recall is None:
                unknown += 1
            else:
                assert report.matched == other.report.matched
                whole += 1
    assert unknown > 12
    assert whole > 12
