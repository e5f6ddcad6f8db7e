"""Arguments that are none are refused with what to write instead."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, MostImportant, Relation, Sample, Within, local
from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError, ShedjoinError
from shedjoin.policies import Prob
from shedjoin.spec.multijoin import stream_keys
from support.asked import asked

BATCHES = local.clicks(impressions=20, batches=1, seed=1)


class Condition:
    """As a Column of Spark, it seems to be iterable and is not."""

    def __iter__(self) -> None:
        raise TypeError


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "one time": ({"time": "shown_at"}, "the right stream has no column 'shown_at'"),
    "three times": ({"time": ("a", "b", "c")}, "does not name a column of each stream"),
    "times by name": ({"time": {"left": "shown_at"}}, "the streams are"),
    "no window": ({"within": 5}, "within=5 is not a duration"),
    "a delay in seconds": ({"lateness": 10}, "lateness=10 is not a duration"),
    "a delay below 0": ({"lateness": "-1 second"}, "lateness='-1 second' is below 0"),
    "a seed as text": ({"seed": "x"}, r"Options\(seed='x'\) is not an integer"),
    "a folder of messages": ({"control": "/c"}, "does not say with which micro-batch"),
    "a number as text": ({"control": {"3": []}}, "does not say with which micro-batch"),
    "a negative window": ({"within": "-1 second"}, "has a negative duration"),
    "one suffix": ({"suffixes": "_l"}, "suffixes='_l' is not a name for each side"),
    "a condition": ({"on": Condition()}, "names no key columns"),
    "keys without an order": (
        {"on": {"left": {"a", "b"}, "right": {"c", "d"}}},
        "has no order",
    ),
    "half an on": ({"on": {"left": "ad_id"}}, "on is given for"),
    "a name that is no text": ({"on": {"left": "ad_id", 5: "ad_id"}}, "on is given"),
    "a key of one stream": ({"on": "shown_at"}, "the right stream has no column"),
    "a window by hand": (
        {"within": {"before": "1 second", "after": "1 minute"}},
        "does not say how long rows of each stream wait",
    ),
    "a bare relation": ({"on": None, "through": BATCHES[0][0]}, "not a relation"),
    "an order of steps that is none": (
        {"discipline": "probe"},
        r"discipline='probe'\) is not known",
    ),
    "a budget as a dict": ({"budget": {"rows": 5}}, "is not a budget"),
    "three delays": (
        {"lateness": ("0 seconds", "0 seconds", "0 seconds")},
        r"lateness has 3 durations, and the join has 2 streams",
    ),
    "half a shard": ({"shards": 1.5}, r"shards=1.5\) is not a count"),
    "no scheme": (
        {"budget": Budget(rows=5), "recompute": "often"},
        r"recompute='often'\) is not a scheme",
    ),
    "one message": (
        {"budget": Budget(rows=5), "control": {0: {"budget": {"rows": 3}}}},
        "is not a list of messages",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(case: str) -> None:
    given, message = WRONG[case]
    right: dict[str, Any] = {
        "on": "ad_id",
        "within": Within(after="1 minute"),
        "time": ("shown_at", "clicked_at"),
    }
    with pytest.raises(ShedjoinError, match=message.split("[")[0]) as raised:
        local.join(BATCHES, **asked(right | given))
    assert raised.value.fix


@pytest.mark.parametrize("split", ["0.3", True, {"left": 0.3}, ("a", "b"), (0.3, 0.3)])
def test_what_is_no_split(split: Any) -> None:  # noqa: ANN401  (anything)
    with pytest.raises(ParameterError, match="is not a part of the whole") as raised:
        Budget(rows=9, split=split)
    assert "add up to 1" in raised.value.fix


@pytest.mark.parametrize("names", [("ad_id",), {"ad_id"}, iter(["ad_id"])])
def test_names_of_keys_in_any_form(names: Any) -> None:  # noqa: ANN401  (anything)
    assert stream_keys(names, ("left", "right")) == (("ad_id",),) * 2


@pytest.mark.parametrize("split", [np.float64(0.3), np.float32(0.3)])
def test_a_part_of_numpy(split: Any) -> None:  # noqa: ANN401  (its own types)
    assert Budget(rows=9, split=split).by_pool(10, 2) == (3, 7)


def test_a_list_of_parts() -> None:
    assert Budget(rows=9, split=[0.3, 0.7]).by_pool(10, 2) == (3, 7)


def test_tables_that_are_no_pairs() -> None:
    times = ("shown_at", "clicked_at")
    with pytest.raises(ParameterError, match="not a pair of tables"):
        local.join(BATCHES[0], on="ad_id", within=Within(after="1 minute"), time=times)


def kept(keep: Any) -> local.Run:  # noqa: ANN401  (anything)
    return local.join(
        BATCHES,
        on="ad_id",
        within="1 minute",
        time=("shown_at", "clicked_at"),
        budget=Budget(rows=5),
        keep=keep,
    )


def test_an_importance_that_is_no_number() -> None:
    ((shown, clicked),) = BATCHES
    names = pa.array(["x"] * shown.num_rows)
    batches = [(shown.append_column("campaign", names), clicked)]
    for goal in (MostImportant("campaign"), Sample(of="campaign")):
        with pytest.raises(ColumnTypeError, match="'campaign' of the left") as raised:
            local.join(
                batches,
                on="ad_id",
                within="1 minute",
                time=("shown_at", "clicked_at"),
                budget=Budget(rows=5),
                keep=goal,
            )
        assert 'ByCategory("campaign", {...})' in raised.value.fix


def test_frames_of_another_engine() -> None:
    ((shown, clicked),) = BATCHES
    frames = shown.to_pandas(), clicked.to_pandas()
    times = ("shown_at", "clicked_at")
    with pytest.raises(ParameterError, match="a pandas DataFrame, a pandas DataFrame"):
        local.join([frames], on="ad_id", within="1 minute", time=times)
    by_name = dict(zip(("a", "b"), frames, strict=True))
    with pytest.raises(ParameterError, match="the a stream is a pandas DataFrame"):
        local.multijoin([by_name], on="ad_id", within="1 minute", time="shown_at")


@pytest.mark.parametrize(
    ("slip", "better"),
    [
        (lambda: Sample("bid"), "Sample(of='bid')"),  # type: ignore[arg-type]
        (lambda: Budget("512 MB"), "Budget(memory='512 MB')"),  # type: ignore[arg-type]
        (lambda: Budget(recall=0.95), 'Budget(recall=0.95, memory="8 GB")'),
        (lambda: Budget(memory="30%"), "needed_bytes"),
        (lambda: kept("MostImportant"), 'keep=MostImportant("column")'),
        (lambda: kept("most_results"), "keep=MostResults()"),
        (lambda: kept(Prob), "keep=policies.Prob()"),
        (lambda: kept("ijoin"), "keep=policies.IJoin()"),
        (lambda: kept("nothing"), "keep=MostResults(), or a policy"),
    ],
)
def test_slips_are_told_what_was_meant(slip: Callable[[], Any], better: str) -> None:
    with pytest.raises(ParameterError) as raised:
        slip()
    assert better in raised.value.fix


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        ({"on": "shown_at"}, 'on={"left": ..., "right": ...}'),
        ({"on": {"id": "order_id"}}, "on={'left': 'id', 'right': 'order_id'}"),
        ({"budget": {"rows": 5}}, "Budget(rows=5)"),
        ({"budget": 1000}, "Budget(rows=1000)"),
        ({"within": {"after": "1 minute"}}, "Within(after='1 minute')"),
        ({"through": BATCHES[0][0]}, "shedjoin.Relation("),
    ],
)
def test_what_to_write_instead(given: dict[str, Any], fix: str) -> None:
    """The answer contains what was meant, with the values that were given."""
    usual: dict[str, Any] = {"on": "ad_id", "within": "1 minute"}
    with pytest.raises(ShedjoinError) as raised:
        local.join(BATCHES, time=("shown_at", "clicked_at"), **(usual | given))
    assert fix in raised.value.fix


def test_a_bare_relation_of_a_lookup_join() -> None:
    rows, relation = BATCHES[0]
    with pytest.raises(ParameterError, match="not a relation"):
        local.lookup_join([(rows,)], relation, on="ad_id", time="shown_at")


def test_rows_as_text() -> None:
    with pytest.raises(ParameterError, match=r"write Budget\(rows=100\)"):
        Budget(rows="100")  # type: ignore[arg-type]


def test_keys_that_the_relation_calls_otherwise() -> None:
    """The fix names what works, and not the columns of one side after the other."""
    times = ("shown_at", "clicked_at")
    ((shown, clicked),) = BATCHES
    table = pa.table({"x": [1], "y": [1]})
    for left in ("ad_id", "x"):
        relation = Relation(table, left=left, right="y")
        with pytest.raises(ColumnError, match="has no column") as raised:
            local.join(
                [(shown, clicked)], through=relation, within="1 minute", time=times
            )
        assert 'on={"left": ...' in raised.value.fix
    named = Relation(table, left="x", right="y")
    on = {"left": "ad_id", "right": "ad_id"}
    local.join([(shown, clicked)], through=named, on=on, within="1 minute", time=times)


def test_a_share_of_time_as_text() -> None:
    with pytest.raises(ParameterError, match="cpu='70%' is neither a part") as raised:
        Budget(cpu="70%")
    assert "cpu=0.7" in raised.value.fix


def test_a_size_of_a_sample() -> None:
    with pytest.raises(ParameterError, match=r"by=0\.1\) is not a sample") as raised:
        Sample(0.1)  # type: ignore[arg-type]
    assert "The budget says how large" in raised.value.fix
