"""What kernels do, slow and obvious, and the bundles that they take."""

from __future__ import annotations

from typing import Any

import numpy as np

from shedjoin.kernels.instants import INSTANT_ROWS
from shedjoin.kernels.round import (
    ALL_SETTLED,
    CURSOR,
    LAGS,
    MARK,
    MATCH,
    REASONS,
    SUMS,
    VICTIM,
    Found,
    Row,
    Rules,
)

MASK = 2**64 - 1


class PlainClock:
    """The clock over all rows that were seen, each a time and a stream.

    All streams have reached the first time. The lead is a quarter of the window until
    it is measured: when 32 rows of the sparsest stream have come or a window has
    passed.
    """

    def __init__(self, streams: int, window: int, first: int) -> None:
        self._window, self._lead = window, window // 4
        self._seen = [[first] for _ in range(streams)]
        self._recent: list[int] = []
        self.now = self._since = first

    @property
    def reached(self) -> int:
        """The time that all streams have reached."""
        return min(max(times) for times in self._seen)

    def see(self, time: int, stream: int) -> int:
        self._seen[stream].append(time)
        latest = [max(times) for times in self._seen]
        self.now = max(self.now, min(max(latest), min(latest) + self._lead))
        self._recent.append(stream)
        fewest = min(self._recent.count(each) for each in range(len(self._seen)))
        passed = self.now - self._since
        if fewest >= 32 or passed >= self._window:
            lead = 8 * (passed // max(1, fewest))
            self._lead = min(max(lead, self._window // 256), self._window // 4)
            self._since, self._recent = self.now, []
        return self.now


def splitmix(bits: int) -> int:
    """Finaliser of splitmix64, on unsigned integers."""
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & MASK
    return bits ^ (bits >> 31)


def plain_coin(seed: int, key: int, number: int, other: int) -> float:
    """A coin for a resident and something of its own."""
    bits = splitmix((splitmix(key + seed & MASK) + number) & MASK)
    return float(splitmix(bits ^ (other & MASK)) >> 11) / 2.0**53


def make_rules(keep: tuple[int, ...], **changes: Any) -> Rules:  # noqa: ANN401
    """Rules of a join; all that is not said is off."""
    rules = Rules(
        keep=keep,
        capacity=(1 << 40,) * len(keep),
        pooled=0,
        tie=1,
        maturity=-1,
        decay=0.0,
        counts_instant_first=0,
        combine=0,
        valued=1,
        thins=0,
        tosses=0,
        weighs=0,
        seed=11,
        window=max(keep),
    )
    return rules._replace(**changes)


def make_found(streams: int, room: int, *, rows: int = 0, weighs: int = 0) -> Found:
    """Room for so many matches; all arrivals are in the table."""
    cursor, leaving = np.zeros(1, CURSOR), 1000
    cursor["settled"] = ALL_SETTLED
    return Found(
        matches=np.zeros(room, MATCH),
        marks=np.zeros(room * weighs, MARK),
        cursor=cursor,
        tally=np.zeros((REASONS, streams), np.int64),
        sums=np.zeros(1, SUMS),
        instant_slots=np.zeros(INSTANT_ROWS, np.int64),
        victims=np.zeros(leaving, VICTIM),
        left=np.zeros(leaving, np.int64),
        slot_by_row=np.zeros(0, np.int64),
        evicted_by_slot=np.zeros(0, np.int64),
        evicted_by_row=np.zeros(0, np.int64),
        hits=np.zeros(rows, np.int64),
        raised=np.full((streams, (rows + 1) * weighs), -np.inf),
        doubtful=np.zeros(rows * weighs, np.int64),
        lags=np.array([(0, -(1 << 62))], LAGS),
    )


def make_row(stream: int, key: int, time: int, *, number: int, at: int = 0) -> Row:
    """An arrival of importance 2."""
    return Row(np.int64(key), time, stream, 2.0, at, number)


def emitted(found: Found) -> list[tuple[int, int, int]]:
    """Matches found so far as (row, place, number), sorted."""
    count = int(found.cursor[0]["found"])
    columns = (
        found.matches[name][:count].tolist() for name in ("row", "place", "number")
    )
    return sorted(zip(*columns, strict=True))
