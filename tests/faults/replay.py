"""One line that plays a sequence again, and how it is read.

::

    PYTHONPATH=src:tests python -m faults 'exact Schedule(stream=6, turns=(Turn(),))'
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from .joins import KINDS, Kind
from .schedule import Attempt, Harm, Schedule, Turn

_NAMES = {made.__name__: made for made in (Schedule, Turn, Attempt, Harm)}
_ROOT = Path(__file__).parents[2]


def replay_line(kind: Kind, schedule: Schedule) -> str:
    """Return a line for a shell in the root folder of the project."""
    python = Path(sys.executable)
    if python.is_relative_to(_ROOT):
        python = python.relative_to(_ROOT)
    sequence = shlex.quote(f"{kind} {schedule!r}")
    return f"PYTHONPATH=src:tests {shlex.quote(str(python))} -m faults {sequence}"


def read_sequence(text: str) -> tuple[Kind, Schedule]:
    """Read the kind of join and the schedule that such a line holds."""
    kind, _, rest = text.partition(" ")
    known = {str(each): each for each in KINDS}
    schedule = eval(rest, {"__builtins__": {}}, _NAMES)  # noqa: S307  (our own output)
    if not isinstance(schedule, Schedule):
        raise TypeError(schedule)
    return known[kind], schedule
