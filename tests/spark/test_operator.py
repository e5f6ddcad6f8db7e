"""The operator without a JVM: order of blobs, copies of state, retries."""

from __future__ import annotations

import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from shedjoin.columns.arrivals import HEARTBEAT
from shedjoin.errors import StateMismatchError
from support.streams import Case, make_case

from .operators import START_MS, Moment, Operator, arrivals_of, spec_of
from .queries import same

pytestmark = [
    pytest.mark.newest_only,
    pytest.mark.skipif(
        find_spec("pyspark.sql.streaming.tws_tester") is None,
        reason="TwsTester came with PySpark 4.2",
    ),
]

CASES = [make_case(seed) for seed in (554, 2416, 684, 211)]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.key_kind)


@pytest.fixture(autouse=True)
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies of decoded state go: below the first of Spark's local folders."""
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path / 'local'},/nowhere")
    return tmp_path / "local" / "shedjoin"


def copy_of(copies: Path) -> Path:
    """The folder of the one copy there is."""
    (folder,) = copies.glob("*/*/*/*")
    return folder


def assert_alike(found: list[Moment], expected: list[Moment]) -> None:
    """The same results and the same bytes of state, micro-batch by micro-batch."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert same(one.results, other.results)
        assert one.state == other.state
    assert any(moment.results for moment in found)


@each_case
def test_blobs_in_another_order(case: Case) -> None:
    usual = Operator(spec_of(case)).play(arrivals_of(case))
    found = Operator(spec_of(case)).play(arrivals_of(case, backwards=True))
    assert_alike(found, usual)
    assert [m.results for m in found] == [m.results for m in usual]


@each_case
def test_a_copy_is_used_while_it_is_there(case: Case, copies: Path) -> None:
    moments = Operator(spec_of(case)).play(arrivals_of(case))
    assert [moment.restored for moment in moments] == [0] * len(moments)
    assert copy_of(copies).is_dir()


@each_case
def test_without_copies(
    case: Case, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = Operator(spec_of(case)).play(arrivals_of(case))
    run, operator = Operator.run, Operator(spec_of(case))

    def forget_and_run(*arguments: object) -> Moment:
        shutil.rmtree(copies)
        return run(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Operator, "run", forget_and_run)
    found = operator.play(arrivals_of(case))
    assert_alike(found, usual)
    assert all(
        moment.restored == (len(before.state) > 2)  # directory, facts
        for before, moment in zip(found[1::2], found[2::2], strict=False)
    )


@each_case
def test_on_a_full_disk(case: Case, tmp_path: Path, copies: Path) -> None:
    usual = Operator(spec_of(case)).play(arrivals_of(case))
    shutil.rmtree(tmp_path / "local")
    (tmp_path / "local").write_text("no folder can be made here")
    found = Operator(spec_of(case)).play(arrivals_of(case))
    assert_alike(found, usual)


@each_case
def test_a_copy_under_another_token_is_not_used(case: Case, copies: Path) -> None:
    first, second, *_ = arrivals_of(case)
    usual = Operator(spec_of(case))
    expected = [usual.run(first), usual.run(second)]
    operator = Operator(spec_of(case))
    found = [operator.run(first)]
    stale = copy_of(copies).rename(copy_of(copies).with_name("0" * 64))
    for file in stale.iterdir():
        file.write_bytes(b"not what it was")
    found.append(operator.run(second))
    assert_alike(found, expected)
    assert found[1].restored == 1
    assert copy_of(copies).name != stale.name


@each_case
def test_a_batch_that_is_run_again(case: Case, copies: Path) -> None:
    """Its state was not committed, but its copy is there: it is one step ahead."""
    first, second, *_ = arrivals_of(case)
    operator = Operator(spec_of(case))
    before = operator.run(first).state
    expected = operator.run(second)
    for _ in range(2):
        operator.state = before
        again = operator.run(second)
        assert_alike([again], [expected])
        assert again.restored == 1
    assert operator.run(second).restored == 0


def test_other_batches_after_a_failed_one(copies: Path) -> None:
    """A copy made by rows that were never committed must not be taken."""
    first, second, third, *_ = arrivals_of(CASES[0])
    operator = Operator(spec_of(CASES[0]))
    before = operator.run(first).state
    operator.run(second)
    operator.state = before
    found = operator.run(third)
    usual = Operator(spec_of(CASES[0]))
    usual.run(first)
    assert_alike([found], [usual.run(third)])


def test_state_of_another_join() -> None:
    spec = spec_of(CASES[0])
    first = arrivals_of(CASES[0])[0]
    operator = Operator(spec)
    state = operator.run(first).state
    left, right = spec.streams
    longer = replace(left, keep_us=left.keep_us + 1)
    other = Operator(replace(spec, streams=(longer, right)))
    other.state = state
    with pytest.raises(StateMismatchError, match="written by another join") as caught:
        other.run(first)
    assert "rows of the left stream wait" in caught.value.problem


def test_state_with_a_segment_missing(copies: Path) -> None:
    first, second, *_ = arrivals_of(CASES[0])
    operator = Operator(spec_of(CASES[0]))
    state = operator.run(first).state
    del state[0,]
    operator.state = state
    shutil.rmtree(copies)
    with pytest.raises(StateMismatchError, match="names blob 0 of a shard but"):
        operator.run(second)


def test_a_shard_that_holds_nothing_only_notes_the_time(copies: Path) -> None:
    """No file is touched; rows that are late by the noted time are late afterwards."""
    case = CASES[0]
    arrivals = arrivals_of(case)
    operator = Operator(spec_of(case))
    beat = arrivals[0][arrivals[0]["stream"] == HEARTBEAT]
    operator.run(beat)
    shutil.rmtree(copies)
    late_ms = START_MS + 10**9
    before = operator.state
    for moment in (operator.run(beat), operator.wake(late_ms), operator.run(beat)):
        assert not moment.results
        assert (moment.restored, moment.fallbacks) == (0, 0)
        assert not copies.exists()
    assert operator.state != before
    assert not any(operator.run(rows).results for rows in arrivals)


def test_of_shards_that_hold_nothing_only_the_first_reports(copies: Path) -> None:
    del copies
    beat = arrivals_of(CASES[0])[0].iloc[:1]
    assert beat["blob"].tolist() == [b""]
    tester = Operator(replace(spec_of(CASES[0]), shards=2)).tester
    reports = {shard: tester.testInPandas(shard, beat) for shard in (0, 1)}
    assert all(len(rows) == 1 for rows in reports.values())  # both have begun
    assert len(tester.setWatermark(START_MS)) == 1  # both are woken
    assert [len(tester.testInPandas(shard, beat)) for shard in (0, 1)] == [1, 0]
    assert len(tester.setWatermark(START_MS + 1)) == 1
