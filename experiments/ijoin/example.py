"""Tables 2 to 4: the example of section 1.1, with the buffers of every instant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from experiments.ijoin.runs import run
from experiments.ijoin.streams import SECOND_US, Streams, tables
from experiments.watch import Log, watched
from shedjoin.local.run import Run
from shedjoin.local.streams import START_US
from shedjoin.policies import Policy, Residents
from shedjoin.types import FloatArray

ROWS = ("abcddbac", "babbccda")
IMPORTANCE = dict(zip("abcd", (1.0, 2.0, 3.0, 4.0), strict=True))
INSTANTS = range(2, 9)
WINDOW = 8
NOTHING = "z"
"""A value that matches nothing, on one more instant after the last: when its rows are
stored, the policy sees what was kept until then."""


@dataclass(frozen=True, slots=True)
class Scripted(Policy):
    """Keep the rows that a script names; ``kept[side][instant]`` are arrival times.

    RAND of Table 3(a) is one such script of several that have the printed buffers.
    """

    kept: tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]

    dynamic: ClassVar[bool] = True

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: whether it is kept now."""
        now = min(round((residents.now_us - START_US) / SECOND_US), len(self.kept[0]))
        came = np.rint((residents.time - START_US) / SECOND_US).astype(int)
        pairs = zip(residents.stream.tolist(), came.tolist(), strict=True)
        kept = [time in self.kept[side][now - 1] for side, time in pairs]
        return np.array(kept, np.float64)


RAND = Scripted(
    (
        ((1,), (1, 2), (1, 3), (1, 4), (4, 5), (5, 6), (6, 7), (6, 8)),
        ((1,), (1, 2), (2, 3), (3, 4), (4, 5), (4, 6), (4, 7), (4, 8)),
    )
)


def streams() -> Streams:
    """Both streams, with an instant more in which nothing matches."""
    key = np.array([[ord(letter) for letter in rows + NOTHING] for rows in ROWS])
    worth = [[IMPORTANCE.get(letter, 9.0) for letter in r + NOTHING] for r in ROWS]
    time_s = np.tile([*range(1, WINDOW + 1), WINDOW + 0.5], (2, 1))
    key[1, -1] += 1
    return Streams(key, np.array(worth), time_s)


def outputs(found: Run) -> dict[int, str]:
    """Values put out at each instant, in alphabetical order."""
    results = found.results
    times = [
        results[n].cast(pa.int64()).to_numpy() for n in ("left_time", "right_time")
    ]
    instant = (np.maximum(*times) - START_US) // SECOND_US if len(results) else []
    values: dict[int, str] = dict.fromkeys(INSTANTS, "")
    for when, key in zip(instant, results["key"].to_pylist(), strict=True):
        values[int(when)] += chr(key)
    return {when: "".join(sorted(letters)) for when, letters in values.items()}


def buffers(log: list[Residents]) -> dict[int, tuple[str, str]]:
    """Values kept at the end of each instant, in order of arrival."""
    kept: dict[int, tuple[str, str]] = {}
    for seen in log:
        last = int(np.ceil((seen.now_us - START_US) / SECOND_US)) - 1
        order = np.argsort(seen.number)
        order = order[seen.time[order] < seen.now_us]
        left, right = (
            "".join(chr(k) for k in seen.key[order[seen.stream[order] == side]])
            for side in (0, 1)
        )
        kept.setdefault(last, (left, right))  # at a second look, one has shed already
    return kept


def replay(policy: Policy, memory: int) -> tuple[Run, dict[int, tuple[str, str]]]:
    """Join the example; the result and the buffers of every instant."""
    log = Log()
    rows = tables(streams())
    found = run(rows, watched(policy, log), memory=memory, window=WINDOW)
    return found, buffers(log.seen)
