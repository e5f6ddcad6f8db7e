"""Rewrites segments in which most rows are not residents; merges small segments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from shedjoin.columns.batches import CHUNK_BYTES
from shedjoin.state.payload import Payload, places, segment_of
from shedjoin.types import BoolArray, IntArray

_MERGE = 16
_MOSTLY_DEAD = 0.5
_DENSE, _TIDY = 1.5, 1.2
_SMALL_BYTES = 1 << 16
_SLACK_BYTES = 1 << 16


def is_dense(payload: Payload, residents: int) -> bool:
    """Whether there are few segments, and few stored rows that are not residents."""
    rows = sum(segment.rows for segment in payload.segments.values())
    return len(payload.segments) < _MERGE and rows <= _DENSE * residents


def tidy(
    payload: Payload, place: IntArray, size: IntArray | None, most: int | None
) -> IntArray:
    """Rewrite segments until they have at most ``most`` bytes; return new places.

    ``place`` and ``size`` are places and sizes of all residents. Without ``size``, the
    mean size of a segment's rows is used. Without ``most``, segments may have slightly
    more bytes than the residents. First, segments without residents are dropped. Then
    all segments in which most bytes are unused are rewritten. If the limit requires it,
    more segments are rewritten, beginning with the greatest unused share. Small
    segments are merged if there are many of them.
    """
    if not payload.segments:
        return place
    ids, owner = payload.owners(place)
    count = np.bincount(owner, minlength=ids.size)
    if size is None:
        each = [payload.segments[one].bytes / payload.segments[one].rows for one in ids]
        live = count * np.array(each)
    else:
        live = np.bincount(owner, weights=size, minlength=ids.size)
    if most is None:
        most = int(_TIDY * live.sum()) + _SLACK_BYTES
    for at in np.flatnonzero(count == 0):
        payload.drop(int(ids[at]))
    chosen = _chosen(payload, dict(zip(ids.tolist(), live.tolist(), strict=True)), most)
    if not chosen:
        return place
    return _rewrite(payload, chosen, place, np.isin(ids, chosen)[owner])


def _chosen(payload: Payload, live: dict[int, float], most: int) -> list[int]:
    dead = {
        number: 1.0 - live[number] / max(1, segment.bytes)
        for number, segment in payload.segments.items()
    }
    worst = sorted(dead, key=lambda number: -dead[number])
    held, chosen = payload.nbytes, []
    for number in worst:
        if held <= most and dead[number] < _MOSTLY_DEAD:
            break
        held -= int(dead[number] * payload.segments[number].bytes)
        chosen.append(number)
    small: dict[int, list[int]] = {}
    for number, segment in payload.segments.items():
        if segment.bytes < _SMALL_BYTES:
            small.setdefault(segment.stream, []).append(number)
    for numbers in small.values():
        chosen += numbers if len(numbers) >= _MERGE else []
    return sorted(set(chosen))


def _rewrite(
    payload: Payload, chosen: list[int], place: IntArray, hit: BoolArray
) -> IntArray:
    place = place.copy()
    moving = np.flatnonzero(hit)
    moving = moving[np.argsort(place[moving])]
    segment = segment_of(place[moving])
    for stream in sorted({payload.segments[number].stream for number in chosen}):
        mine = [n for n in chosen if payload.segments[n].stream == stream]
        own = moving[np.isin(segment, mine)]
        for rows, at in _merged(payload, place[own]):
            place[own[at]] = places(payload.add(stream, rows))
    for number in chosen:
        payload.drop(number)
    return place


def _merged(
    payload: Payload, place: IntArray
) -> Iterator[tuple[pa.RecordBatch, IntArray]]:
    """Yield the rows at ``place`` in chunks, with their positions in ``place``."""
    parts: list[pa.RecordBatch] = []
    moved: list[IntArray] = []
    for rows, found, at in payload.by_place(place) if place.size else ():
        parts.append(rows.take(pa.array(found)))
        moved.append(at)
        if sum(part.nbytes for part in parts) >= CHUNK_BYTES:
            yield pa.concat_batches(parts), np.concatenate(moved)
            parts, moved = [], []
    if parts:
        yield pa.concat_batches(parts), np.concatenate(moved)
