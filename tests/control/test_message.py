"""Messages: what is read, what is refused, and that nothing else ever happens."""

from __future__ import annotations

import json

import numpy as np
import pytest

from control.specs import a_spec
from shedjoin.control.message import MOST_BYTES, decode_message, encode_message
from shedjoin.control.record import KEPT, Entry, Record, Sent
from shedjoin.control.steered import steered
from shedjoin.errors import ParameterError, StateMismatchError
from shedjoin.policies import EqCluster, Fifo, IJoin, Policy, Prob, Residents
from shedjoin.spec.budget import Budget
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec


def sent(name: str, **settings: object) -> Sent:
    return Sent(name, json.dumps({"format": 1, "set": settings}).encode())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "bytes" if MOST_BYTES < 100_000 else "not JSON"),
        (b"[" * 50_000, "not JSON"),
        (b"[]", 'not an object of "format" and "set"'),
        (b'{"format": 2, "set": {"budget": {"rows": 1}}}', "is of format 2"),
        (b'{"format": true, "set": {"budget": {"rows": 1}}}', "is of format True"),
        (b'{"format": 1, "set": {}}', "sets nothing"),
        (b'{"format": 1, "set": {"speed": 1}}', "'speed' is not known"),
        (b'{"format": 1, "set": {"budget": 5}}', "budget is 5, not an object"),
        (b'{"format": 1, "set": {"budget": {"rows": NaN}}}', "not JSON"),
        (b'{"format": 1, "set": {"budget": {"rows": 1.5}}}', "not a number of rows"),
        (b'{"format": 1, "set": {"budget": {"memory": true}}}', "is not a size"),
        (b'{"format": 1, "set": {"budget": {"rows": 1e99}}}', "not a number of rows"),
        (
            b'{"format": 1, "set": {"budget": {"rows": 1' + b"0" * 40 + b"}}}",
            "more than can be counted",
        ),
        (b'{"format": 1, "set": {"budget": {"cores": 1}}}', "budget has no 'cores'"),
        (b'{"format": 1, "set": {"policy": {"name": "Policy"}}}', "is not known"),
        (b'{"format": 1, "set": {"policy": {"name": ["Prob"]}}}', "is not known"),
        (sent("m", policy={"name": "Rand", "parameters": {"seed": -1}}).text, "seed"),
        (b'{"format": 1, "set": {"throttle": {"update": 1e308}}}', "from 0 to 1e"),
        (b'{"format": 1, "set": {"throttle": {"match": 1e999}}}', "from 0 to 1e"),
    ],
)
def test_a_message_is_refused_with_a_reason(text: bytes, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        decode_message(text)


def test_a_sender_is_told_what_no_join_would_accept() -> None:
    with pytest.raises(ParameterError, match="is not a number of rows"):
        encode_message(budget={"rows": -1})


def test_settings_come_into_force_together_or_not_at_all() -> None:
    spec = a_spec(Shedding(Budget(rows=10), Prob()))
    record = Record({}).after(
        [
            sent("b", budget={"rows": 5}, policy={"name": "Nobody"}),
            sent("a", policy={"name": "Fifo"}),
        ],
        spec,
        micro_batch=3,
    )
    assert steered(spec, record.in_force).shedding == Shedding(Budget(rows=10), Fifo())
    assert record.entries == (
        Entry(3, "a", ""),
        Entry(3, "b", "policy 'Nobody' is not known."),
    )


def test_a_join_goes_back_to_what_it_was_started_with() -> None:
    spec = a_spec(Shedding(Budget(rows=10), Prob()))
    messages = [sent("a", budget={"rows": 5}), sent("b", budget="as started")]
    record = Record({}).after(messages, spec, 0)
    assert steered(spec, record.in_force) == spec


def test_a_budget_comes_to_an_exact_join_and_goes_again() -> None:
    spec = a_spec(None)
    alone = Record({}).after([sent("a", policy={"name": "Fifo"})], spec, 0)
    assert alone.entries[0].refused.endswith("nothing would be shed.")
    record = Record({}).after([sent("b", budget={"rows": 5})], spec, 0)
    shedding = steered(spec, record.in_force).shedding
    assert shedding is not None
    assert shedding.budget == Budget(rows=5)
    messages = [sent("c", policy={"name": "Fifo"}), sent("d", budget="as started")]
    record = record.after(messages, spec, 1)
    assert [entry.refused for entry in record.entries] == ["", "", ""]
    assert steered(spec, record.in_force).shedding is None


@pytest.mark.parametrize(
    ("shedding", "settings"),
    [
        (None, {"budget": {"rows": 5}, "policy": {"name": "EqCluster"}}),
        (Shedding(Budget(rows=5), EqCluster()), {"policy": {"name": "Prob"}}),
        (Shedding(Budget(rows=5), EqCluster()), {"policy": {"name": "Uniform"}}),
        (
            Shedding(Budget(rows=5), EqCluster()),
            {"policy": {"name": "EqCluster", "parameters": {"seed": 4}}},
        ),
        (
            Shedding(Budget(rows=5), EqCluster()),
            {"budget": {"rows": 5, "split": 0.5}},
        ),
    ],
)
def test_a_running_join_does_not_change_how_it_samples(
    shedding: Shedding | None, settings: dict[str, object]
) -> None:
    record = Record({}).after([sent("a", **settings)], a_spec(shedding), 0)
    assert "whether or how the join samples" in record.entries[0].refused
    assert record.in_force == {}


def test_a_split_for_other_streams_is_refused() -> None:
    spec = a_spec(Shedding(Budget(rows=10), Prob()))
    thirds = sent("a", budget={"rows": 9, "split": [0.3, 0.3, 0.4]})
    assert "3 parts for 2 streams" in Record({}).after([thirds], spec, 0).entries[0][2]


def test_a_record_is_read_as_it_was_stored() -> None:
    spec = a_spec(Shedding(Budget(rows=10), Prob()))
    record = Record({}).after([sent("a", budget={"rows": 4}), Sent("b", b"?")], spec, 7)
    assert Record.of(json.loads(json.dumps(record.facts()))) == record
    assert Record({}).facts() == {}


def test_a_number_beyond_64_bits_is_a_cost_like_others() -> None:
    rows = Residents.example(time=[5, 3], now_us=9, matches=[1, 0], last_match=[6, 3])
    settings = {"policy": {"name": "IJoin", "parameters": {"penalty": 10**30}}}
    assert decode_message(encode_message(**settings)) == settings
    assert np.isfinite(IJoin(penalty=10**30, decay=10**30).score(rows)).all()


def test_reasons_are_short_however_long_the_value() -> None:
    spec = a_spec(Shedding(Budget(rows=10), Prob()))
    long = sent("a", policy={"name": "x" * 60_000})
    assert len(Record({}).after([long], spec, 0).entries[0].refused) <= 400


@pytest.mark.parametrize(
    ("started", "restarted", "name"),
    [(EqCluster(), Fifo(), "PpsCluster"), (None, EqCluster(), "Fifo")],
)
def test_a_restart_that_samples_otherwise_is_refused(
    started: Policy | None, restarted: Policy, name: str
) -> None:
    before = None if started is None else Shedding(Budget(rows=5), started)
    message = sent("a", budget={"rows": 5}, policy={"name": name})
    record = Record({}).after([message], a_spec(before), 0)
    assert record.entries[0].refused == ""
    with pytest.raises(StateMismatchError, match="samples otherwise"):
        steered(a_spec(Shedding(Budget(rows=5), restarted)), record.in_force)


def test_a_record_stays_small() -> None:
    spec = a_spec(Shedding(Budget(rows=10), Prob()))
    many = [sent(f"{n:04d}", budget={"rows": n}) for n in range(3 * KEPT)]
    record = Record({}).after(many, spec, 0)
    assert len(record.entries) == KEPT
    assert record.in_force == {"budget": {"rows": 3 * KEPT - 1}}


def test_ten_thousand_fuzzed_messages_are_refused_or_applied() -> None:
    """Bytes changed, cut and doubled; values of every kind in every place."""
    rng = np.random.default_rng(11)
    spec = a_spec(Shedding(Budget(rows=10), Prob()))
    seeds = [
        sent("s", budget={"memory": "512 MB", "split": 0.25}).text,
        sent("s", budget={"rows": 1000, "split": [0.5, 0.5]}).text,
        sent("s", policy={"name": "IJoin", "parameters": {"decay": 0.5}}).text,
        sent("s", policy={"name": "Rand", "parameters": {"seed": 7}}).text,
    ]
    odd: list[object] = [
        None,
        True,
        -1,
        0,
        1e308,
        10**30,
        "",
        "x",
        [],
        [[]],
        {},
        {"rows": 1},
        0.5,
    ]
    refused = 0
    record = Record({})
    for number in range(10_000):
        text = bytearray(seeds[number % len(seeds)])
        if number % 2:
            told = json.loads(text)
            place = told["set"]
            while True:
                key = sorted(place)[rng.integers(len(place))]
                if not isinstance(place[key], dict) or rng.random() < 0.3:
                    break
                place = place[key]
            place[key] = odd[rng.integers(len(odd))]
            text = bytearray(json.dumps(told).encode())
        else:
            for _ in range(rng.integers(1, 4)):
                at = int(rng.integers(len(text)))
                text[at : at + int(rng.integers(0, 3))] = rng.bytes(
                    int(rng.integers(3))
                )
        record = record.after([Sent(f"{number:05d}", bytes(text))], spec, number)
        last = record.entries[-1]
        assert last[:2] == (number, f"{number:05d}")
        refused += bool(last.refused)
        changed = steered(spec, record.in_force)
        assert isinstance(changed, JoinSpec)
        assert changed.shedding is not None
    assert 5_000 < refused < 9_900
