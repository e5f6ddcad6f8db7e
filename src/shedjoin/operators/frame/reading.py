"""Reads the residents of a stored state, and the numbers of its blobs.

A join uses this to continue with the state of another kind of join.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from shedjoin.columns.hot import hot_columns
from shedjoin.columns.schema import as_stored
from shedjoin.operators.frame.join import Residing
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs, load_segment
from shedjoin.state.directory import Directory
from shedjoin.state.payload import row_of, segment_of
from shedjoin.state.segments import Segment
from shedjoin.types import IntArray

_NOWHERE = np.zeros(0, np.int64)


def residing(
    blobs: Blobs,
    directory: Directory,
    spec: JoinSpec,
    segments: Iterable[Segment],
    gone: IntArray = _NOWHERE,
) -> Residing:
    """Yield the residents among the rows of segments, segment by segment.

    Rows that have expired are left out, and so are rows whose places are in ``gone``.
    Segments without residents are skipped.
    """
    for segment in segments:
        stream = segment.stream
        rows = as_stored(load_segment(blobs, segment.id))
        time = hot_columns(rows, spec.streams[stream], direct=spec.direct).time
        here = time > spec.expired_us(stream, directory.watermark_ms)
        here[row_of(gone[segment_of(gone) == segment.id])] = False
        if here.any():
            yield stream, rows.filter(pa.array(here))


def numbers_of(directory: Directory, *logs: Iterable[Sequence[int]]) -> list[int]:
    """Numbers of the blobs of a directory's segments, and of the parts of logs."""
    segments = [segment.id for segment in directory.segments]
    return [*segments, *(number for log in logs for number, *_ in log)]
