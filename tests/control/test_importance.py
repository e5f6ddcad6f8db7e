"""Importance that a message redefines while the join runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from shedjoin import Budget, MostImportant, Options, Within, local
from shedjoin.control.importance import check_importance, read_importance
from shedjoin.control.message import encode_message
from shedjoin.errors import ParameterError
from shedjoin.local.run import Run
from shedjoin.policies import Greedy, IJoin, Policy, Valued

from .specs import a_spec

BATCHES, FROM, ROWS, KEYS = 12, 6, 120, 25
NEWS, SPORTS = "news", "sports"
BY_BID = {"left": {"column": "bid"}}
BY_TOPIC = {"left": {"column": "topic", "weights": {NEWS: 50}, "default": 1}}
BY_HEAT = {"right": {"column": "heat", "edges": [10, 30], "weights": [1, 5, 50]}}


def streams() -> list[tuple[pa.Table, pa.Table]]:
    rng = np.random.default_rng(3)
    return [(left(rng, number), right(rng, number)) for number in range(BATCHES)]


def left(rng: np.random.Generator, number: int) -> pa.Table:
    bid = pa.array(rng.gamma(2.0, 3.0, ROWS), mask=rng.random(ROWS) < 0.1)
    return pa.table(
        {
            "k": rng.integers(0, KEYS, ROWS),
            "t": times(rng, number),
            "l": np.arange(ROWS) + ROWS * number,
            "bid": bid,
            "topic": rng.choice([NEWS, SPORTS], ROWS, p=[0.1, 0.9]),
        }
    )


def right(rng: np.random.Generator, number: int) -> pa.Table:
    return pa.table(
        {
            "k": rng.integers(0, KEYS, ROWS),
            "t": times(rng, number),
            "r": np.arange(ROWS) + ROWS * number,
            "heat": rng.integers(0, 50, ROWS),
        }
    )


def times(rng: np.random.Generator, number: int) -> pa.Array:
    time = np.sort(rng.choice(10_000, ROWS, replace=False)) * 1000
    return pa.array(time + 10_000_000 * number, pa.timestamp("us"))


def joined(
    control: dict[int, Any], policy: Policy | None = None, **more: object
) -> Run:
    options: dict[str, Any] = {"budget": Budget(rows=100, split=0.5)} | more
    return local.join(
        streams(),
        on="k",
        within=Within(before="20 seconds", after="20 seconds"),
        time=("t", "t"),
        keep=MostImportant(("bid", None), by=policy),
        options=Options(shards=2),
        control=control,
        **options,
    )


def worth(importance: dict[str, Any], results: pa.Table) -> float:
    """Sum over the results, computed another way."""
    rows = results.to_pylist()
    if importance is BY_BID:
        return sum(row["bid"] or 0.0 for row in rows)
    if importance is BY_TOPIC:
        return sum(50.0 if row["topic"] == NEWS else 1.0 for row in rows)
    return sum(1.0 if r["heat"] < 10 else 5.0 if r["heat"] < 30 else 50.0 for r in rows)


@pytest.mark.parametrize("importance", [BY_BID, BY_TOPIC, BY_HEAT])
def test_results_are_worth_what_the_message_says(importance: dict[str, Any]) -> None:
    """In the same micro-batch already, and also those of residents stored before."""
    run = joined({FROM: [{"importance": importance}]})
    for number, batch in enumerate(run.batches):
        says = importance if number >= FROM else BY_BID
        assert batch.report.importance == pytest.approx(worth(says, batch.results))
    assert sum(run.report.shed) > 0


@pytest.mark.parametrize("policy", [Greedy(), Valued(), IJoin()])
def test_it_decides_who_stays(policy: Policy) -> None:
    """News are worth fifty times as much from the middle on: more of them stay."""
    before = joined({}, policy)
    after = joined({FROM: [{"importance": BY_TOPIC}]}, policy)
    news = [
        sum(batch.results["topic"].to_pylist().count(NEWS) for batch in run.batches[7:])
        for run in (before, after)
    ]
    assert news[1] > 1.3 * news[0]


def test_residents_are_valued_again() -> None:
    """The budget shrinks with the message: those worth least by the new one leave."""
    control = {FROM: [{"importance": BY_TOPIC, "budget": {"rows": 20, "split": 0.5}}]}
    run = joined(control, Greedy())
    found = run.batches[FROM].results
    earlier = found.filter(pc.less(found["l"], FROM * ROWS))
    assert earlier.num_rows > 0
    assert set(earlier["topic"].to_pylist()) == {NEWS}


@pytest.mark.parametrize("every", [1, 2, 5])
@pytest.mark.parametrize("policy", [Greedy(), Valued()])
def test_restarts_change_nothing(policy: Policy, every: int) -> None:
    control = {
        3: [{"importance": BY_TOPIC}],
        FROM: [{"importance": BY_HEAT}],
        9: [{"importance": "as started"}],
    }
    plain = joined(control, policy)
    again = joined(control, policy, restart_every=every)
    assert again.results.equals(plain.results)
    assert again.state_digests == plain.state_digests


@pytest.mark.parametrize(
    ("importance", "reason"),
    [
        ({"middle": {"column": "k"}}, "'middle', which is no stream"),
        ({"left": {"column": "bids"}}, "'bids', which is not there"),
        ({"left": {"column": "time0"}}, "'time0', of type timestamp.* as number"),
        ({"left": {"column": "k", "weights": {"a": 1}}}, "'k', of type int64, as text"),
    ],
)
def test_what_the_streams_cannot_follow(
    importance: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ParameterError, match=reason):
        check_importance(read_importance(importance), a_spec(None))


@pytest.mark.parametrize(
    "importance",
    [
        *([], "bid", 5, {"left": "bid"}, {"left": {}}, {"left": {"column": 5}}),
        {"left": {"column": "x", "weights": {"a": "b"}}},
        {"left": {"column": "x", "weights": {"a": True}}},
        {"left": {"column": "x", "edges": [2, 1], "weights": [1, 2, 3]}},
        {"left": {"column": "x", "edges": [1], "weights": [1]}},
        {"left": {"column": "x", "edges": 1, "weights": [1]}},
        {"left": {"column": "x", "more": 1}},
        {"left": {"column": "x", "weights": {"\ud800": 1}}},
    ],
)
def test_what_no_join_would_follow(importance: object) -> None:
    with pytest.raises(ParameterError, match=r"\nFix: "):
        encode_message(importance=importance)


def test_a_length_of_time_is_no_number() -> None:
    """Though the name of its type begins as that of one."""
    spec = a_spec(None)
    stream = replace(spec.streams[0], columns=(("took", "interval day to second"),))
    spec = replace(spec, streams=(stream, *spec.streams[1:]))
    with pytest.raises(ParameterError, match="of type interval"):
        check_importance(read_importance({"left": {"column": "took"}}), spec)


def test_numbers_of_any_size_are_importance() -> None:
    """No message that is accepted stops a join."""
    batches = [
        (
            one.append_column("large", pa.array([2**62 + 1, -(2**62)] * (ROWS // 2))),
            other.append_column("huge", pa.array([1.7e308, -1.7e308] * (ROWS // 2))),
        )
        for one, other in streams()
    ]
    told = {"left": {"column": "large"}, "right": {"column": "huge"}}
    run = local.join(
        batches,
        on="k",
        within=Within(before="2 seconds", after="2 seconds"),
        time=("t", "t"),
        budget=Budget(rows=60),
        keep=MostImportant(("large", "huge")),
        control={FROM: [{"importance": told}]},
    )
    assert run.report.matched > 0
    assert np.isfinite(run.report.importance)
