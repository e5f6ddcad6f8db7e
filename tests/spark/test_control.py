"""Queries steered by messages: applied once, at one micro-batch, whatever dies."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import shedjoin
from docs.pages import blocks
from shedjoin import Budget, Control

from .budgets import Tables
from .frames import as_streams
from .logs import files_read, micro_batches
from .named_joins import DELAY, PAIR, WINDOW, joined, locally, locate, streams
from .processes import Query, count, kill, running, wait_for_end, wait_until
from .queries import Rows, run, same
from .sources import NAMES, Sources

pytestmark = [pytest.mark.spark]

BATCHES = 14
CHILD = "spark.child_steered"


def send(control: Control, rng: random.Random) -> None:
    """Send a message, now and then one that makes no sense."""
    kind = rng.randrange(7)
    if kind == 0:
        name = f"{time.time_ns():020d}-odd.json"
        part = control.path / f".{name}"
        part.write_bytes(rng.randbytes(20))
        part.rename(control.path / name)
    elif kind == 1:
        control.send(policy={"name": rng.choice(["Fifo", "Prob", "Expected"])})
    elif kind == 2:
        control.send(policy={"name": "EqCluster"})  # results have no weights: refused
    elif kind == 3:
        control.send(throttle={"share": rng.choice([0.2, 0.6, 1.0])})
    elif kind == 4:
        weights = {"column": "left_price", "edges": [6.0], "weights": [1, 5]}
        control.send(importance={"left": weights})
    else:
        control.send(budget={"rows": rng.choice([50, 120, 250])})


def send_some(
    number: int, control: Control, rng: random.Random, query: Query, folder: Path
) -> None:
    """Send messages at random moments, after a micro-batch of this process."""
    home = locate(folder, "steered")
    done = count(home, "commits")
    wait_until(lambda: count(home, "commits") > done, query, folder)
    for _ in range(number):
        send(control, rng)
        time.sleep(rng.uniform(0, 0.8))


def settings_read(control: Control, checkpoint: Path) -> dict[int, list[Any]]:
    """Messages that can be read, by the micro-batch that read them."""
    found: dict[int, list[Any]] = {}
    for number, names in enumerate(files_read(checkpoint, len(NAMES))):
        for name in sorted(names):
            try:
                told = json.loads((control.path / name).read_bytes())
            except ValueError:
                continue
            found.setdefault(number, []).append(told["set"])
    return found


def check(control: Control, home: Path, sent: Tables, found: Rows) -> None:
    """Compare with a join of tables under the same messages; and look at the record."""
    read = micro_batches(home / "checkpoint", sent)
    settings = settings_read(control, home / "checkpoint")
    assert same(found, locally(read, "steered", control=settings))
    assert len(found) > 500
    (join,) = control.joins()
    told = {entry.name: entry for entry in control.applied(join)}
    for number, names in enumerate(files_read(home / "checkpoint", len(NAMES))):
        for name in names:
            entry = told.pop(name)
            assert entry.micro_batch == number
            if name.endswith("odd.json"):
                assert "is not JSON" in entry.refused
    assert not told


def test_messages_hold_from_the_micro_batch_that_reads_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Messages of every kind before each of four starts; the streams have seed 31."""
    sent = streams(31, 8)
    control, rng = Control(tmp_path / "control"), random.Random(6)
    home, sources = locate(tmp_path, "steered"), Sources(tmp_path / "in")
    for first in range(0, len(sent), 2):
        sources.write(sent[first : first + 2], first)
        for _ in range(3):
            send(control, rng)
        found = run(joined(spark, sources, "steered"), home)
    budgets = [counts["resident_left"] for counts in found.observed()]
    assert max(budgets) <= 300
    wait_for(lambda: len(control.applied(control.joins()[0])) == len(control.sent()))
    check(control, home, sent, found.rows)


def wait_for(ready: Callable[[], bool], seconds: float = 90.0) -> None:
    """Wait for listeners: they are told of a micro-batch after its end."""
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.long
@pytest.mark.parametrize("kills", [2, 8])
def test_messages_survive_kills(kills: int, tmp_path: Path) -> None:
    """The streams have seed 31, messages and moments of the kills seed 4."""
    sent = streams(31, BATCHES)
    Sources(tmp_path / "in").write(sent)
    control, rng = Control(tmp_path / "control"), random.Random(4)
    home = locate(tmp_path, "steered")
    for _ in range(kills):
        with running(tmp_path, CHILD) as query:
            send_some(3, control, rng, query, tmp_path)
            kill(query)
    with running(tmp_path, CHILD) as query:
        send_some(4, control, rng, query, tmp_path)
        (tmp_path / "finish").touch()
        wait_for_end(query, tmp_path)
    found = json.loads((home / "results.json").read_text())
    assert len(control.sent()) == 3 * kills + 4
    check(control, home, sent, list(map(tuple, found)))


def test_the_page(spark: SparkSession, tmp_path: Path) -> None:
    sources = Sources(tmp_path / "in").write(streams(31, 2))
    left, right = as_streams(sources.read(spark), DELAY)
    start, messages, look = blocks("docs/how-to/steer-a-query.md")
    said: list[str] = []
    page: dict[str, Any] = {
        "left": left,
        "right": right,
        "folder": tmp_path / "control",
    }
    exec(start + messages, page)  # noqa: S102  (our own page)
    run(page["joined"].select(*PAIR), tmp_path / "page")
    control = Control(tmp_path / "control")
    wait_for(lambda: bool(control.joins()))
    exec(look, page | {"print": lambda *words: said.append(words[2])})  # noqa: S102
    assert said == ["in force"] * 4


def test_time_is_kept_by_messages(spark: SparkSession, tmp_path: Path) -> None:
    """No micro-batch ends in 50 ms: the driver closes the throttle, and that is read.

    As calibrated, which is not true here, most of the time goes into joining: else it
    would not close, as nothing could be saved. A run reads the messages that are there
    when it starts. The streams have seed 31.
    """
    sent = streams(31, 8)
    control, other = Control(tmp_path / "control"), Control(tmp_path / "other")
    control.set_costs({"floor": 1.0, "row": 1e-9, "update": 0.01, "match": 0.02})
    home, sources = locate(tmp_path, "timed"), Sources(tmp_path / "in")
    for first in (0, 4):
        sources.write(sent[first : first + 4], first)
        # A join of the same name, steered by another folder, is none of its business.
        shedjoin.join(
            *as_streams(sources.read(spark), DELAY),
            on="k",
            within=WINDOW,
            budget=Budget(cpu="50 milliseconds"),
            control=other,
        )
        found = run(joined(spark, sources, "timed"), home)
        # The first messages may be of a micro-batch that had little to join.
        wait_for(lambda: min(_shares(control), default=1.0) < 0.5)
    # How far it closes is a matter of the machine: it is as far as the message says.
    assert found.total("shed_left", "shed_right") > 0
    read = micro_batches(home / "checkpoint", sent)
    settings = settings_read(control, home / "checkpoint")
    assert len(settings) == 1
    asked = next(iter(settings.values()))[-1]["throttle"]["share"]
    assert asked < 1
    assert same(found.rows, locally(read, "timed", control=settings))
    (join,) = control.joins()
    wait_for(lambda: control.load(join)["share"] == asked)
    load = control.load(join)
    assert load["target"] == 0.05
    assert not other.sent()
    assert not other.joins()


def _shares(control: Control) -> list[float]:
    """Shares that the driver has asked for."""
    sent = [json.loads((control.path / name).read_bytes()) for name in control.sent()]
    return [one["set"]["throttle"]["share"] for one in sent]


def test_the_page_of_bursts(spark: SparkSession, tmp_path: Path) -> None:
    """As written, but for a shorter interval."""
    sources = Sources(tmp_path / "in").write(streams(31, 3))
    left, right = as_streams(sources.read(spark), DELAY)
    start, look = blocks("docs/how-to/survive-a-burst.md")
    said: list[tuple[float, ...]] = []
    page: dict[str, Any] = {
        "left": left,
        "right": right,
        "folder": tmp_path / "control",
        "checkpoint": str(tmp_path / "checkpoint"),
    }
    exec(start.replace("5 seconds", "500 milliseconds"), page)  # noqa: S102
    control = page["control"]
    try:
        wait_for(lambda: any(map(control.load, control.joins())), 240)
    finally:
        page["query"].stop()
    exec(look, page | {"print": lambda *words: said.append(words)})  # noqa: S102
    ((seconds, target, floor, share),) = said
    assert target == pytest.approx(0.35)
    assert seconds > 0
    assert floor > 0
    assert 0 < share <= 1
