"""Joins one micro-batch of several streams in one shard, within a memory budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Blob, Chunk
from shedjoin.columns.hot import Hot
from shedjoin.operators.frame.completeness import Completeness, Measured
from shedjoin.operators.frame.join import Running, as_step
from shedjoin.operators.frame.needed import Needed
from shedjoin.operators.frame.ordered import Ordered, Timely
from shedjoin.operators.frame.sharing import Sharing, share_at
from shedjoin.operators.multiway.bounded_store import BoundedStore
from shedjoin.operators.multiway.counted import counted_keys
from shedjoin.operators.multiway.found import Asking, Found
from shedjoin.operators.multiway.hops import Group, Hops, hop_order
from shedjoin.operators.multiway.lags import everything
from shedjoin.operators.multiway.layout import numbered
from shedjoin.operators.multiway.learning import Arrived, Learning
from shedjoin.operators.multiway.losses import Losses
from shedjoin.operators.multiway.shedder import Shedder
from shedjoin.spec.recall import EXACT, FAR_CELLS, PREDICATE
from shedjoin.spec.report import Report
from shedjoin.types import BoolArray, FloatArray, IntArray, IntGrid

_TELLING = 0.05
"""In a join by Band, the recall counts as unknown if a smaller part of the results have
all of their rows in one cell."""


class Bounded(NamedTuple):
    """All objects that a step of a shard with a memory budget uses."""

    store: BoundedStore
    learning: Learning
    shedder: Shedder
    losses: Losses
    completeness: Completeness
    sharing: Sharing
    needed: Needed


class _Own(NamedTuple):
    """Arrivals of one stream by time, and their positions among all arrivals."""

    at: IntArray
    rows: pa.RecordBatch
    hot: Hot
    columns: IntGrid
    key: IntArray
    worth: FloatArray


@as_step
def bounded_step(join: Bounded, blobs: Sequence[Blob], watermark_ms: int) -> Running:
    """Join the arrivals of a micro-batch, shed rows, and remove expired residents.

    Arrivals are processed in blocks, in the order of their times. The arrivals of a
    block are joined with all residents, and become residents themselves. After each
    block, the surplus is shed. The budget does not change which rows are late, or when
    rows expire.
    """
    store, learning, shedder, losses, *_ = join
    shares = join.sharing.arrive(blobs, watermark_ms)
    index_bytes = max(layout.row_bytes for layout in store.layouts)
    arrivals = Timely(blobs, store.spec, store.watermark_ms, index_bytes)
    join.completeness.begin(store.spec.all_expired_us(store.watermark_ms))
    learning.models.begin_count()
    join.needed.begin()
    shedder.limit(shares[0].size)
    losses.count(shedder.shed(), learning.clock_us)
    found, matched, ahead = Found(store), 0, 0
    for part in arrivals.parts([share.since_us for share in shares[1:]]):
        shedder.limit(share_at(shares, int(part.time[0])).size)
        losses.count(shedder.shed(), learning.clock_us)
        join.needed.add(part)
        number = losses.next_number
        losses.next_number += part.key.size
        each = _held(store, part, number)
        for block in shedder.blocks(part.size):
            arrived = _arrived(part, each, block)
            watched = learning.watched(arrived)
            found.begin_block(arrived.key.size)
            for stream, own in each.items():
                for batch in _joined(found, stream, _cut(own, block), watched):
                    matched += batch.num_rows
                    yield batch
            learning.observe(arrived, watermark_ms, watched, found.results)
            first_new = number + block.start
            losses.count(shedder.shed(), learning.clock_us, first_new)
        store.keep()
        ahead += int((part.time > learning.clock_us + store.spec.window_us).sum())
    shedder.limit(join.sharing.now.size)
    losses.expire(store, watermark_ms)
    losses.count(shedder.fit(), learning.clock_us)
    report = losses.report(store, arrivals)
    report = replace(report, ahead=ahead, matched=matched, budget=join.sharing.now.size)
    return _told(join, found, report)


def _told(join: Bounded, found: Found, report: Report) -> Report:
    """Add the recall to a report, and the size of the state of an exact join."""
    store, learning, needed = join.store, join.learning, join.needed
    report = replace(
        report,
        importance=found.importance,
        **needed.end(store.watermark_ms),  # type: ignore[arg-type]  # whole
    )
    missed, so_far = learning.models.missed()
    # With a Band, missing results are estimated only within one cell. For results
    # across cells, the missing part may be different.
    across = max(0.0, 1.0 - found.alike / max(1, report.matched))
    measured = Measured(
        *(found.alike, found.alike_importance, missed, so_far),
        off=across * abs(missed.results),
        importance_off=across * abs(missed.importance),
    )
    return join.completeness.told(
        report,
        measured,
        skips=any(report.shed),
        reason=_untold(learning, report.matched, found),
    )


def _held(store: BoundedStore, part: Ordered, first: int) -> dict[int, _Own]:
    """Hold arrivals in memory, by stream, with their numbers and importances."""
    each = {}
    for stream in store.streams:
        at = np.flatnonzero(part.stream == stream)
        if not at.size:
            continue
        rows = part.rows[stream].take(pa.array(part.origin[at]))
        worth = part.importance[at]
        rows = numbered(rows, first + at, worth)
        hot = Hot(part.key[at], part.time[at])
        columns = store.hold(stream, rows, hot)
        key = counted_keys(store.spec, stream, store.layouts[stream], columns)
        each[stream] = _Own(at, rows, hot, columns, key, worth)
    return each


def _arrived(part: Ordered, each: dict[int, _Own], block: slice) -> Arrived:
    """Arrivals of a block, with the keys under which models count them."""
    key = np.empty(block.stop - block.start, np.int64)
    for own in each.values():
        some = _cut(own, block)
        key[some.at] = some.key
    return Arrived(
        part.stream[block],
        key,
        part.time[block],
        part.importance[block],
        part.size[block],
    )


def _cut(own: _Own, block: slice) -> _Own:
    """Select the arrivals of a block, with their positions in the block."""
    low, high = np.searchsorted(own.at, [block.start, block.stop])
    at = slice(low, high)
    return _Own(
        own.at[at] - block.start,
        own.rows.slice(low, high - low),
        Hot(own.hot.key[at], own.hot.time[at]),
        own.columns[:, at],
        own.key[at],
        own.worth[at],
    )


def _joined(
    found: Found, stream: int, own: _Own, watched: BoolArray
) -> Iterator[pa.RecordBatch]:
    """Join arrivals of one stream, then make them residents."""
    if not own.at.size:
        return
    store = found.store
    looks = everything(store.spec, stream, hop_order(store, stream))
    chunk = Chunk(stream, own.rows, own.hot, own.at.size)
    asking = Asking(own.at, own.key, watched[own.at], own.worth)
    hops = Hops(store, chunk, own.columns, lambda met: found.note(met, asking))
    yield from hops.joined([Group(None, looks)])
    store.admit(stream, own.columns)
    found.is_valued[stream] |= bool(np.isfinite(own.worth).any())


def _untold(learning: Learning, matched: int, found: Found) -> int:
    """Code of the reason why the recall is unknown; ``EXACT`` if it is known.

    With a Band, the recall is estimated from the results within one cell only.
    """
    if not learning.is_counted:
        return PREDICATE
    return FAR_CELLS if found.alike < _TELLING * matched else EXACT
