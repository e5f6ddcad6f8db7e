"""A join that is steered: what messages set holds from their micro-batch on."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from shedjoin import Budget, MostResults, Sample, Within, local
from shedjoin.control.message import encode_message
from shedjoin.control.record import Messages, Record, Sent
from shedjoin.control.steered import steered
from shedjoin.errors import ParameterError
from shedjoin.local.delivery import Delivery
from shedjoin.local.run import Run
from shedjoin.local.shard import LocalShard
from shedjoin.policies import Fifo
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec
from support.asked import asked
from support.recalls import recalls, true_recall
from support.specs import make_spec

BATCHES = 8
JOIN = {
    "on": "ad_id",
    "within": Within(after="15 minutes"),
    "time": ("shown_at", "clicked_at"),
    "shards": 2,
}


def streams() -> list[tuple[pa.Table, pa.Table]]:
    return local.clicks(impressions=2_000, batches=BATCHES, seed=5)


def joined(**more: object) -> Run:
    return local.join(streams(), **asked({**JOIN, **more}))


def test_a_budget_holds_from_its_micro_batch_on_and_goes_again() -> None:
    control = {2: [{"budget": {"rows": 60}}], 5: [{"budget": "as started"}]}
    run, exact = joined(control=control), joined()
    for number, batch in enumerate(run.batches):
        resident = sum(batch.report.resident)
        if number in (2, 3, 4):
            assert resident <= 60
        elif number < 2:
            assert batch.results.equals(exact.batches[number].results)
    assert sum(run.batches[2].report.shed) > 0
    assert all(sum(batch.report.shed) == 0 for batch in run.batches[5:])
    assert run.report.matched < exact.report.matched


@pytest.mark.parametrize(("before", "after"), [(60, 100_000), (100_000, 60)])
def test_the_recall_is_right_when_the_budget_changes(before: int, after: int) -> None:
    """What was learned does not depend on the budget: it goes on being told."""
    control = {5: [{"budget": {"rows": after}}]}
    run, exact = joined(budget=Budget(rows=before), control=control), joined()
    told = recalls(run)
    whole = zip(run.batches, exact.batches, strict=True)
    true = [true_recall(*batches) for batches in whole]
    assert true[5] < 0.9
    for one, other in zip(told, true, strict=True):
        assert one == pytest.approx(other, abs=0.1)


def test_what_was_shed_long_ago_is_not_missed_when_a_budget_comes_again() -> None:
    control: dict[int, Any] = {
        1: [{"budget": {"rows": 60}}],
        4: [{"budget": "as started"}],
        18: [{"budget": {"rows": 100_000}}],
        20: [{"budget": "as started"}],
    }
    tables = local.clicks(impressions=6_000, batches=30, seed=5)
    run = local.join(tables, control=control, **asked(JOIN))
    assert sum(run.report.shed) > 0
    assert [batch.report.recall for batch in run.batches[18:]] == [1.0] * 12


def test_a_message_before_the_first_micro_batch_is_as_good_as_an_argument() -> None:
    control = {0: [{"budget": {"rows": 60}, "policy": {"name": "Fifo"}}]}
    run = joined(control=control)
    assert run.results.equals(joined(budget=Budget(rows=60), keep=Fifo()).results)


def test_importance_of_a_message_is_the_value_of_a_sample() -> None:
    control = {0: [{"importance": {"left": {"column": "bid"}}}]}
    run = joined(budget=Budget(rows=60), keep=Sample(), control=control)
    by_value = joined(budget=Budget(rows=60), keep=Sample(of="bid"))
    assert run.results.equals(by_value.results)
    assert not run.results.equals(joined(budget=Budget(rows=60), keep=Sample()).results)


@pytest.mark.parametrize("keep", [MostResults(), Sample()], ids=["results", "sample"])
@pytest.mark.parametrize("every", [1, 3])
def test_restarts_change_nothing(keep: object, every: int) -> None:
    control: dict[int, Any] = {
        1: [{"budget": {"rows": 200}}],
        3: [{"budget": {"rows": 80}}, {"budget": {"memory": "20 kB"}}],
        6: [{"budget": "as started"}],
    }
    plain = joined(budget=Budget(rows=300), keep=keep, control=control)
    again = joined(
        budget=Budget(rows=300), keep=keep, control=control, restart_every=every
    )
    assert again.results.equals(plain.results)
    assert again.state_digests == plain.state_digests
    assert sum(plain.report.shed) > 0


@pytest.mark.slow
def test_weights_stay_right_while_the_budget_changes() -> None:
    """Over 40 seeds the sum of weights estimates the number of exact results."""
    exact = joined().report.matched
    control = {2: [{"budget": {"rows": 100}}], 4: [{"budget": {"rows": 400}}]}
    said = [
        joined(budget=Budget(rows=250), keep=Sample(), seed=seed, control=control)
        for seed in range(40)
    ]
    total = [sum(run.results["_weight"].to_pylist()) for run in said]
    mean = sum(total) / len(total)
    spread = (sum((one - mean) ** 2 for one in total) / (len(total) - 1)) ** 0.5
    assert abs(mean - exact) < 4 * spread / len(total) ** 0.5
    assert spread > 0


def test_what_is_in_force_goes_before_the_arguments_of_a_restart() -> None:
    tables = streams()
    spec = joined_spec(Budget(rows=300))
    shard = LocalShard(spec, 0)
    message = Sent("m", encode_message(budget={"rows": 40}))
    shard.steer(Messages([message], 0))
    delivery = Delivery()
    run = shard.run([b for _, b in delivery.deliver(tables[0], spec)], 0)
    assert sum(run.report.resident) <= 40
    again = LocalShard(joined_spec(Budget(rows=500)), 0)
    for number, blob in shard.blobs.items():
        again.blobs.put(number, blob)
    again.restart()
    assert again.record.in_force == {"budget": {"rows": 40}}
    run = again.run([b for _, b in delivery.deliver(tables[1], spec)], 0)
    assert sum(run.report.resident) <= 40


def joined_spec(budget: Budget) -> JoinSpec:
    left, right = streams()[0]
    spec = make_spec(
        (left.schema, right.schema),
        "ad_id",
        Within(after="15 minutes"),
        ("shown_at", "clicked_at"),
        1,
        ("_l", "_r"),
    )
    return spec.with_shedding(Shedding(budget, Fifo()))


def test_a_wrong_message_is_an_error_here() -> None:
    with pytest.raises(ParameterError, match="is not a number of rows"):
        joined(control={0: [{"budget": {"rows": -5}}]})


def test_a_limit_of_time_needs_somebody_who_watches_it() -> None:
    """A join that was started without one refuses it, and goes on as it was."""
    sent = Sent("m", encode_message(budget={"rows": 60, "cpu": 0.5}))
    record = Record({}).after([sent], joined_spec(Budget(rows=300)), 0)
    assert record.in_force == {}
    assert "was started without such a budget" in record.entries[0].refused
    started = joined_spec(Budget(rows=300, cpu=0.7))
    assert Record({}).after([sent], started, 0).entries[0].refused == ""


def test_a_message_on_memory_leaves_the_limit_of_time() -> None:
    started = joined_spec(Budget(rows=300, cpu=0.7))
    shedding = steered(started, {"budget": {"rows": 60}}).shedding
    assert shedding is not None
    assert shedding.budget == Budget(rows=60, cpu=0.7)


def test_a_message_on_time_leaves_the_limit_of_memory() -> None:
    started = joined_spec(Budget(rows=300, cpu=0.7))
    shedding = steered(started, {"budget": {"cpu": 0.5}}).shedding
    assert shedding is not None
    assert shedding.budget == Budget(rows=300, cpu=0.5)
