"""Messages that hold in place of what a query that starts is told."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from shedjoin import Control
from shedjoin.control.record import Entry
from shedjoin.spark.control import tell_what_stands


def test_the_last_message_of_each_kind_stands(tmp_path: Path) -> None:
    control = Control(tmp_path)
    control.send(budget={"rows": 10}, policy={"name": "Fifo"})
    last = control.send(budget={"rows": 20})
    (tmp_path / "99999999999999999999-odd.json").write_bytes(b"no JSON")
    standing = control.standing("ads")
    assert standing["budget"] == (last, {"rows": 20})
    assert standing["policy"][1] == {"name": "Fifo"}
    control.send(budget="as started")
    assert set(control.standing("ads")) == {"policy"}


def test_a_query_that_starts_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    control = Control(tmp_path)
    name = control.send(budget={"rows": 10}, throttle={"share": 0.5})
    with caplog.at_level(logging.WARNING, "shedjoin"):
        tell_what_stands(control, "ads")
    (record,) = caplog.records
    said = record.getMessage()
    assert f"{name}, which sets budget" in said
    assert 'control.send(budget="as started")' in said


def test_a_message_that_was_refused_does_not_stand(tmp_path: Path) -> None:
    control = Control(tmp_path)
    first = control.send(policy={"name": "Rand"})
    refused = control.send(policy={"name": "PpsCluster"})
    entries = [Entry(3, first, ""), Entry(5, refused, "it samples")]
    control.note("query-ads", entries)
    assert control.standing("ads")["policy"][0] == first
    assert control.standing("others")["policy"][0] == refused
