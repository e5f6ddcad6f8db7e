"""``shedjoin control``: sends, lists and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from shedjoin.cli.main import app
from shedjoin.control.folder import Control
from shedjoin.control.record import Entry


def test_a_message_is_sent_and_listed(tmp_path: Path) -> None:
    runner = CliRunner(env={"COLUMNS": "200"})
    sent = runner.invoke(
        app, ["control", "send", str(tmp_path), '{"budget": {"rows": 7}}']
    )
    assert sent.exit_code == 0, sent.output
    name = sent.output.strip()
    listed = runner.invoke(app, ["control", "list", str(tmp_path)]).output
    assert name in listed
    assert "not read yet" in listed
    assert 'budget: {"rows": 7}' in listed
    Control(tmp_path).note("query-join", [Entry(12, name, ""), Entry(13, "b", "why")])
    listed = runner.invoke(app, ["control", "list", str(tmp_path)]).output
    assert "query-join" in listed
    assert "12" in listed
    assert "why" in listed
    assert "not read yet" not in listed


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ('{"budget"', "is not JSON"),
        ("7", "is not an object"),
        ('{"budget": {"rows": -1}}', "rows=-1 is not a number of rows"),
    ],
)
def test_what_no_join_would_accept_is_not_sent(
    tmp_path: Path, settings: str, says: str
) -> None:
    done = CliRunner().invoke(app, ["control", "send", str(tmp_path), settings])
    assert done.exit_code == 2
    assert says in done.output
    assert list(tmp_path.iterdir()) == []


def test_a_record_grows_and_is_never_half_written(tmp_path: Path) -> None:
    control = Control(tmp_path)
    control.note("j", [Entry(1, "a", ""), Entry(2, "b", "")])
    control.note("j", [Entry(2, "b", ""), Entry(3, "c", "no")])
    assert control.applied("j") == [
        Entry(1, "a", ""),
        Entry(2, "b", ""),
        Entry(3, "c", "no"),
    ]
    assert control.joins() == ["j"]
    assert control.sent() == []


def test_a_join_whose_time_is_kept_is_known_before_any_message(tmp_path: Path) -> None:
    control = Control(tmp_path)
    control.note_load("k", {"seconds": 2.0})
    assert control.joins() == ["k"]
    assert control.load("k") == {"seconds": 2.0}
    assert control.load("unknown") == {}
    assert control.applied("k") == []
