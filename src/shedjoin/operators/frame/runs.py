"""Runs of slots in the exact join, and rules that decide when runs are rewritten.

A run is a range of slots whose rows are in one segment. A run is dropped or rewritten
as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from shedjoin.kernels.index import STRIDE
from shedjoin.state.directory import Directory
from shedjoin.state.merging import newest_to_merge
from shedjoin.state.segments import Segment

_SLACK_ROWS = 1 << 10
_FEWEST_SLOTS = 1 << 10
_SPARSE = 16
SLOT_BYTES = 8 * (STRIDE + 1)
"""Bytes that a slot takes in the index: an entry and the head of a bucket."""


class Run(NamedTuple):
    """A run of slots whose rows are stored in one segment.

    ``alive`` is the number of its rows that can still be matched.
    """

    segment: Segment
    first_slot: int
    alive: int
    min_us: int
    max_us: int


class Stored(NamedTuple):
    """All that the exact join stores besides the rows.

    ``runs`` are in slot order. ``ends`` are the next slots to assign, by stream.
    ``seed`` is the seed of the buckets of the hash index.
    """

    runs: tuple[Run, ...]
    ends: tuple[int, ...]
    seed: int

    @staticmethod
    def of(directory: Directory) -> Stored:
        """Read the facts from a directory."""
        segments = {segment.id: segment for segment in directory.segments}
        own = directory.own
        runs = tuple(Run(segments[number], *run) for number, *run in own["runs"])
        return Stored(runs, tuple(own["ends"]), own["seed"])

    @property
    def oldest_first(self) -> list[Segment]:
        """Segments of all runs, sorted by their earliest times.

        A join that takes over residents sets its clock by the first of them. If a
        segment came that begins more than a window earlier, the clock would be taken
        for wrong, and set again.
        """
        runs = sorted(self.runs, key=lambda run: (run.min_us, run.segment.id))
        return [run.segment for run in runs]

    def facts(self) -> dict[str, Any]:
        """Facts that :meth:`of` reads."""
        runs = [[run.segment.id, *run[1:]] for run in self.runs]
        return {"runs": runs, "ends": list(self.ends), "seed": self.seed}


def worth_moving(runs: Sequence[Run], end: int) -> list[Run]:
    """Runs of one stream whose rows should be rewritten into a new run at the end.

    ``runs`` are in slot order, and ``end`` is the next slot to assign. There are two
    reasons to rewrite. *Cleaning*: a few rows of an old segment live longer than the
    others, so that more than half of the slots are unused. Then the remaining rows of
    the oldest segments are rewritten. *Merging*: small segments are merged into one
    (see ``newest_to_merge``). On average, each row is rewritten only a few times.
    """
    if not runs:
        return []
    alive = sum(run.alive for run in runs)
    cleaned = 0
    while (
        cleaned < len(runs) and end - runs[cleaned].first_slot > 2 * alive + _SLACK_ROWS
    ):
        cleaned += 1
    if cleaned:
        return list(runs[:cleaned])
    merged = newest_to_merge([run.segment for run in runs])
    return list(runs[len(runs) - merged :])


def slots_for(span: int, slots: int) -> int:
    """Number of slots that a ring should have, if it has ``slots`` slots now.

    ``span`` is the number of slots from the oldest slot in use to the newest.

    >>> slots_for(1000, 0), slots_for(1500, 1024), slots_for(1500, 8192)
    (1024, 2048, 8192)
    """
    if slots // _SPARSE < span <= slots or span <= slots == _FEWEST_SLOTS:
        return slots
    return int(max(1 << (2 * span - 1).bit_length() - 1, _FEWEST_SLOTS))
