"""Divides one budget among all shards, by the rows that came to each of them.

Shards do not communicate. Each shard receives the census of all arrivals, keeps the
counts of the last window, and computes the same division. The shares add up to the
budget at any time. The rows of a micro-batch change the shares in the same micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from shedjoin.columns.arrivals import Blob
from shedjoin.columns.census import (
    WINDOW_SLOTS,
    Counts,
    cells_of_shard,
    counts_in,
    is_shared,
    slot_us,
)
from shedjoin.models.division import by_keys, by_rows
from shedjoin.models.recall_curve import FACTORS, WHOLE
from shedjoin.operators.frame.cell_sizes import CellSizes
from shedjoin.operators.frame.join import Opening
from shedjoin.operators.frame.limits import USABLE, advanced
from shedjoin.operators.frame.models_log import ModelsLog
from shedjoin.state.blobs import Commit
from shedjoin.types import BoolArray, IntArray

_CENSUS = "census"
_LOG = 1 << 40
"""Number of the log of the census. Its blobs have numbers far below the numbers of
other logs."""
_SLOTS = 16
"""Number of slots of time whose counts are kept. A slot is an eighth of the window, but
at least a second."""
_PART = 2
"""Number of these slots that make up the most recent part of a window."""
_MOST = 32
"""Limit of the number of divisions that are computed for one micro-batch."""
_STEADY = 16
"""Within a micro-batch, a new share is used only if it differs by more than 1 / 16."""
_NEVER = -(1 << 62)


class Share(NamedTuple):
    """What a shard may hold from a time on, in rows or bytes.

    ``others`` are the shares that the shard would have with other budgets. These
    budgets are the whole budget times ``FACTORS``.
    """

    since_us: int
    size: int
    others: IntArray


def share_at(shares: Sequence[Share], time_us: int) -> Share:
    """Share that is in force at a time."""
    return [share for share in shares if share.since_us <= time_us][-1]


def _differ(size: int, before: int) -> bool:
    return abs(size - before) * _STEADY > before


class Sharing:
    """Computes the share of one shard from each census.

    Parameters
    ----------
    opening : Opening
        Spec, stored state and workspace from which the join is opened.
    own : dict
        What :meth:`write` returned when the state was stored; empty if there was none.
    index_bytes : int
        Bytes that a row takes from a budget in bytes, in addition to its columns.
    """

    def __init__(
        self, opening: Opening, own: dict[str, Any], *, index_bytes: int
    ) -> None:
        spec, shedding = opening.spec, opening.spec.shedding
        if shedding is None:
            raise TypeError(spec)
        self._spec, self._shard = spec, opening.shard
        self._budget = shedding.budget
        self._by_keys = shedding.policy.by_keys
        self._index_bytes = index_bytes
        self.part = 1.0
        """Part of the whole budget that is in force."""
        self.is_shared = is_shared(spec)
        stored = own.get(_CENSUS, {})
        self._log = ModelsLog(stored.get("log", ()), log=_LOG)
        self._newest: int = stored.get("newest", _NEVER)
        # Copies, so that a retry of the micro-batch starts from the same facts.
        self._latest = list(stored.get("latest", [_NEVER] * len(spec.streams)))
        if self.is_shared:
            self._open(opening, stored)
        self.now = self._share()
        """The share that is in force."""

    @staticmethod
    def parts(own: dict[str, Any]) -> Sequence[Sequence[int]]:
        """Parts of the stored log."""
        found: Sequence[Sequence[int]] = own.get(_CENSUS, {}).get("log", ())
        return found

    def write(self, changes: Commit) -> dict[str, Any]:
        """Write the counts that have changed; return facts for the directory."""
        if not self.is_shared:
            self._log.forget(changes)
            return {}
        self._log.write(self._words, changes)
        facts = {
            "log": self._log.parts,
            "newest": self._newest,
            "latest": list(self._latest),
        }
        return {_CENSUS: facts}

    def arrive(self, blobs: Iterable[Blob], watermark_ms: int) -> list[Share]:
        """Read the census of a micro-batch; return the shares to use in it, by time.

        A new share begins a new part of the arrivals, and every part costs time. So
        small changes are left out. ``now`` becomes the share at the end of the
        micro-batch. At that time, the shares of all shards add up to the budget.
        """
        if not self.is_shared:
            self.now = self._share()
            return [self.now]
        counts = counts_in(blobs)
        if not counts.slot.size:
            self.now = self._share()
            return [self.now]
        width, before = slot_us(self._spec), self._newest
        newest = self._reached(counts, 1000 * watermark_ms // width)
        if before > _NEVER:
            self._sizes.age(newest // WINDOW_SLOTS - before // WINDOW_SLOTS)
        self._sizes.add(counts)
        slot = np.minimum(counts.slot, newest)
        if before == _NEVER:
            before = int(slot.min())
        ends = np.unique(slot[slot > before])
        if not ends.size or ends[0] > before:
            ends = np.concatenate([[before], ends])
        step = -(-ends.size // _MOST)
        ends = np.append(ends[step - 1 : -1 : step], ends[-1])
        shares: list[Share] = []
        since = _NEVER
        for end in ends.tolist():
            self._count(counts, slot, (slot >= since) & (slot <= end), end)
            self.now = self._share(since if since == _NEVER else since * width)
            if not shares or _differ(self.now.size, shares[-1].size):
                shares.append(self.now)
            since = end + 1
        return shares

    def _open(self, opening: Opening, stored: dict[str, Any]) -> None:
        spec = self._spec
        cells = spec.shards * cells_of_shard(spec.shards)
        streams = len(spec.streams)
        ring, shape = -(-streams * _SLOTS * cells // 2), (streams, _SLOTS, cells)
        words = ring + CellSizes.words(streams, cells)
        if stored and opening.opened:
            self._words = opening.workspace.array(_CENSUS)
            self._log = ModelsLog(stored["log"], self._words, log=_LOG)
        else:
            self._words = opening.workspace.new_array(_CENSUS, words)
            if stored:
                self._log.restore(self._words, opening.blobs)
        counts = self._words[:ring].view(np.int32)[: int(np.prod(shape))]
        self._ring = counts.reshape(shape)
        self._sizes = CellSizes(self._words[ring:], streams, cells)

    def _reached(self, counts: Counts, watermark: int) -> int:
        """Latest slot of time, at most one slot after the slot all streams reached.

        So a row with a time far in the future does not make all other rows old.
        """
        for stream in range(len(self._latest)):
            own = counts.slot[counts.stream == stream]
            latest = int(own.max(initial=_NEVER))
            self._latest[stream] = max(self._latest[stream], latest)
        if min(self._latest) == _NEVER:  # a stream has no rows yet
            return max(self._newest, int(counts.slot.min()))
        reached = max(watermark, min(self._latest))
        return advanced(self._newest, self._latest, reached, lead=1)

    def _count(
        self, counts: Counts, slot: IntArray, now: BoolArray, newest: int
    ) -> None:
        """Advance to slot ``newest``, and add the counts that ``now`` selects."""
        if self._newest > _NEVER:
            first = max(self._newest + 1, newest - _SLOTS + 1)
            self._ring[:, np.arange(first, newest + 1) % _SLOTS] = 0
        self._newest = max(self._newest, newest)
        mine = np.flatnonzero(now & (slot > self._newest - _SLOTS))
        at = counts.stream[mine], slot[mine] % _SLOTS, counts.cell[mine]
        place, of = np.unique(
            np.ravel_multi_index(at, self._ring.shape), return_inverse=True
        )
        ring = self._ring.reshape(-1)
        came = ring[place].astype(np.int64)
        np.add.at(came, of, counts.number[mine])
        # While a stream has no rows, all other rows count in one slot. So limit sums.
        ring[place] = np.minimum(came, np.iinfo(np.int32).max)

    def _share(self, since_us: int = _NEVER) -> Share:
        """Compute the share of this shard, and its shares with other budgets."""
        factors = [self.part, *FACTORS.tolist()]
        if self.is_shared and self._newest > _NEVER:
            whole = self._budget.share(0, 1)
            size, *others = self._divided([int(each * whole) for each in factors])
        else:
            own = self._budget.share(self._shard, self._spec.shards)
            size, *others = (int(each * own) for each in factors)
        # Shards may use different parts of the budget. Without the limit, a shard could
        # get more than its share of the whole budget, and the shares could exceed it.
        return Share(since_us, min(size, others[WHOLE]), np.array(others))

    def _divided(self, budgets: Sequence[int]) -> list[int]:
        """Divide budgets by the counted rows; return this shard's share of each."""
        shards = self._spec.shards
        held = np.array(
            [
                self._since(stream, -(-max(keep, 0) // slot_us(self._spec)))
                for stream, keep in enumerate(self._spec.keeps_us)
            ]
        )
        room = None
        if self._budget.in_bytes:
            usable = self._sizes.of(held, self._index_bytes) / USABLE
            room = usable.astype(np.int64)
        if self._by_keys:
            lately = np.array(
                [
                    [self._since(stream, slots) for stream in range(len(held))]
                    for slots in (WINDOW_SLOTS, _PART)
                ]
            )
            shares = by_keys(budgets, held, lately, shards, room)
        else:
            shares = by_rows(budgets, held if room is None else room, shards)
        own: list[int] = shares[:, self._shard].tolist()
        return own

    def _since(self, stream: int, slots: int) -> IntArray:
        """Number of rows of a stream in the last slots of time, by cell."""
        first = self._newest - min(slots, _SLOTS) + 1
        some = np.arange(first, self._newest + 1) % _SLOTS
        counted: IntArray = self._ring[stream, some].sum(axis=0, dtype=np.int64)
        return counted
