"""A failing sequence prints a line that plays it again."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from shedjoin.spark.copies import NodeCopies
from shedjoin.state.workspace import MappedWorkspace

from .__main__ import main
from .checks import WrongError
from .joins import Kind
from .replay import read_sequence, replay_line
from .schedule import Attempt, Harm, Schedule, Turn
from .world import play

ROOT = Path(__file__).parents[2]
LOST = Schedule(stream=6, turns=(Turn(), Turn(before=(Attempt(),))))
"""An attempt leaves a copy of a state that is never committed."""
HARMED = Schedule(
    stream=9,
    beside="twin",
    turns=(
        Turn(before=(Attempt(pause=3, wakes=1, ending="dies", former=True),)),
        Turn(harm=Harm(pick=2, damage="zeroed"), winner=Attempt(full=4)),
    ),
)


def break_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers take any copy of a shard, whatever state it holds."""
    take = NodeCopies.take

    def careless(copies: NodeCopies, token: str) -> MappedWorkspace | None:
        found = [
            path.name for path in copies._home.glob("*") if path.name[:4] != "work"
        ]
        return take(copies, found[0] if found else token)

    monkeypatch.setattr(NodeCopies, "take", careless)


@pytest.mark.parametrize("kind", ["exact", "star_table", "steered"])
def test_a_broken_operator_fails_again_in_the_same_way(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as broken:
        break_copies(broken)
        with pytest.raises(WrongError) as caught:
            play(kind, LOST)
        told = str(caught.value)
        (line,) = [one for one in told.split("\n") if one.startswith("replay: ")]
        sequence = shlex.split(line)[-1]
        assert main([sequence]) == 1
        assert capsys.readouterr().out == f"{told}\n"
    assert main([sequence]) == 0
    assert "committed" in capsys.readouterr().out


@pytest.mark.parametrize("schedule", [LOST, HARMED])
def test_a_line_holds_all_of_a_schedule(schedule: Schedule) -> None:
    line = replay_line("sampled", schedule)
    assert "\n" not in line
    assert read_sequence(shlex.split(line)[-1]) == ("sampled", schedule)


@pytest.mark.slow
def test_the_line_works_in_a_shell() -> None:
    line = replay_line("exact", HARMED)
    done = subprocess.run(  # noqa: S602  (that it works there is what is shown)
        line, shell=True, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n")[:-1] == play("exact", HARMED)
