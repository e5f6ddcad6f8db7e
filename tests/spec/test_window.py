"""Durations and windows: what they mean, and what is said about wrong ones."""

import pickle
import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.errors import ParameterError, ShedjoinError
from shedjoin.spec.window import Within, parse_duration

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1 microsecond", 1),
        ("250 milliseconds", 250_000),
        ("1 second", SECOND),
        ("90 seconds", 90 * SECOND),
        ("5 minutes", 300 * SECOND),
        ("1 hour", 3600 * SECOND),
        ("2 days", 2 * 86_400 * SECOND),
        ("1 week", 7 * 86_400 * SECOND),
        ("0 seconds", 0),
        ("1.5 hours", 5400 * SECOND),
        ("0.000001 seconds", 1),
        ("-2 minutes", -120 * SECOND),
        ("1 hour 30 minutes", 5400 * SECOND),
        ("1 hour 30 minutes 15 seconds", 5415 * SECOND),
        ("1 minute -30 seconds", 30 * SECOND),
        ("1hour30minutes", 5400 * SECOND),
        ("  10   Minutes ", 600 * SECOND),
        ("INTERVAL 1 DAY", 86_400 * SECOND),
    ],
)
def test_text(text: str, microseconds: int) -> None:
    assert parse_duration(text) == microseconds


LONGEST = timedelta(days=10_000_000)


@given(st.timedeltas(-LONGEST, LONGEST))
def test_timedelta_is_exact(value: timedelta) -> None:
    assert timedelta(microseconds=parse_duration(value)) == value


@given(st.integers(-(10**12), 10**12))
def test_whole_numbers_are_exact(number: int) -> None:
    assert parse_duration(f"{number} microseconds") == number
    assert parse_duration(f"{number // 1000} milliseconds") == number // 1000 * 1000


@pytest.mark.parametrize(
    "value",
    [
        "",
        "   ",
        "soon",
        "10",
        "minutes",
        "interval",
        "10 s",
        "10 min",
        "1 month",
        "10 minutess",
        "10 minutes ago",
        "10 minutes, 5 seconds",
        "1e3 seconds",
        "- 5 minutes",
        "5 minutes 3",
        5,
        2.5,
        None,
        True,
        b"5 minutes",
    ],
)
def test_what_is_not_a_duration(value: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError) as caught:
        parse_duration(value)
    problem, fix = str(caught.value).split("\n")
    assert problem == f"{value!r} is not a duration."
    example = re.findall('"(.+?)"', fix)
    assert fix.startswith("Fix: ")
    assert example
    assert all(parse_duration(text) > 0 for text in example)  # the advice works


def test_one_end_alone_is_enough() -> None:
    minute = 60 * SECOND
    one, other = Within(after="1 minute"), Within(before="1 minute")
    assert (one.before_us, one.after_us) == (0, minute)
    assert (other.before_us, other.after_us) == (minute, 0)


@pytest.mark.parametrize("unnamed", [(), ("15 minutes",), ("1 minute", "1 hour")])
def test_which_way_must_be_said(unnamed: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError, match="which way the window reaches") as caught:
        Within(*unnamed)
    assert 'Within(after="15 minutes")' in caught.value.fix


def test_window_takes_text_and_timedeltas() -> None:
    window = Within(before="1 minute", after=timedelta(hours=1))
    assert (window.before_us, window.after_us) == (60 * SECOND, 3600 * SECOND)


@pytest.mark.parametrize(
    ("before", "after"), [("-5 minutes", "5 minutes"), ("2 minutes", "-2 minutes")]
)
def test_a_window_may_be_one_instant_away_from_the_row(before: str, after: str) -> None:
    window = Within(before=before, after=after)
    assert window.before_us + window.after_us == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("1 minute", "-2 minutes"),
        ("-1 microsecond", "0 seconds"),
        (timedelta(seconds=-1), timedelta(microseconds=999_999)),
    ],
)
def test_empty_window(before: str | timedelta, after: str | timedelta) -> None:
    with pytest.raises(ParameterError) as caught:
        Within(before=before, after=after)
    problem, fix = str(caught.value).split("\n")
    shown = f"Within(before={before!r}, after={after!r})"
    assert problem == f"{shown} is an empty window: it ends before it begins."
    advice = re.search(r'e\.g\. Within\(before="(.+)", after="(.+)"\)', fix)
    assert advice is not None
    Within(before=advice[1], after=advice[2])


def test_wrong_duration_in_a_window() -> None:
    with pytest.raises(ParameterError, match="'5 apples' is not a duration"):
        Within(before="5 apples")


def test_errors_fit_the_builtin_ones() -> None:
    assert issubclass(ParameterError, ValueError)
    assert issubclass(ParameterError, ShedjoinError)


def test_window_is_a_value() -> None:
    window = Within(before="1 minute", after="1 hour")
    assert eval(repr(window), {"Within": Within}) == window  # noqa: S307
    assert pickle.loads(pickle.dumps(window)) == window
    assert len({window, Within(before="1 minute", after="1 hour")}) == 1
    with pytest.raises(AttributeError):
        window.before = "2 minutes"  # type: ignore[misc]


@pytest.mark.parametrize("days", ["106751992", "999999999999", "9" * 400])
def test_a_window_may_not_overflow(days: str) -> None:
    with pytest.raises(ParameterError, match="too long") as caught:
        Within(after=f"{days} days").after_us  # noqa: B018
    assert "Fix: " in str(caught.value)
    assert Within(after="10000000 days").after_us == 864 * 10**15
