"""Room for all models of a shard, in one array of words."""

from __future__ import annotations

from shedjoin.models.curve import Curve
from shedjoin.models.frequency import FEWEST, MOST, Frequency
from shedjoin.models.frequent import Frequent
from shedjoin.models.meter import Meter
from shedjoin.models.miniature import Miniature
from shedjoin.models.monitored import Slice
from shedjoin.models.sizes import Sizes
from shedjoin.models.words import Shape, size_of
from shedjoin.models.worth import Worth

_PAIR = 2
_GHOSTS = 1 << 13
_NEAR_KEYS = 1 << 14
"""Room for keys that are counted together with their neighbours."""


def shapes_of(streams: int, reach: int, keys: int) -> tuple[tuple[Shape, ...], ...]:
    """Shapes of the arrays of each model. Counts of keys are last, and may grow."""
    return (
        Curve.shapes(streams),
        Worth.shapes(streams),
        Sizes.shapes(streams),
        Slice.shapes(streams, _GHOSTS),
        Frequent.shapes(streams),
        Meter.shapes(streams),
        Miniature.shapes() if streams == _PAIR and not reach else (),
        ((4,), (5,)),
        Frequency.shapes(streams, _NEAR_KEYS) if reach else (),
        Frequency.shapes(streams, keys),
    )


def words_of(streams: int, reach: int, keys: int) -> int:
    """Number of words of the models with room for a given number of keys."""
    return sum(map(size_of, shapes_of(streams, reach, keys)))


def keys_in(words: int, streams: int, reach: int) -> int:
    """Number of keys for which models with this number of words have room."""
    keys = FEWEST
    while keys < MOST and words_of(streams, reach, 2 * keys) <= words:
        keys *= 2
    return keys
