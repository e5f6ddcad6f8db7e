"""Layout of a slot table: one array of 64-bit words holds all of its parts.

So a slot table needs only one file on the node, and one memory mapping.
"""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.slots import DETAILS, FACTS, RESIDENT, STREAM, Table
from shedjoin.models.words import Shape, cut, reals, size_of
from shedjoin.types import IntArray

_WORD = 8


def slot_bytes(streams: int) -> int:
    """Bytes that one slot takes, including its share of the hash buckets."""
    return 4 * streams + RESIDENT.itemsize + DETAILS.itemsize + 3 * _WORD


def header_words(streams: int) -> int:
    """Number of words before the slots: facts of the table and of each stream."""
    return size_of(_shapes(0, streams))


def words_of(slots: int, streams: int) -> int:
    """Number of words that a table with ``slots`` slots takes."""
    return size_of(_shapes(slots, streams))


def table_in(words: IntArray, streams: int) -> Table:
    """The slot table in an array of words, as views into the array."""
    rest = _WORD * (words.size - header_words(streams))
    slots = rest // slot_bytes(streams)
    facts, each, heads, residents, details, number, score, meta = cut(
        words, _shapes(slots, streams)
    )
    return Table(
        facts=facts.view(FACTS),
        streams=each.view(STREAM),
        heads=heads.view(np.int32)[: streams * slots],
        residents=residents.view(RESIDENT),
        details=details.view(DETAILS),
        number=number,
        score=reals(score),
        meta=meta,
    )


def _shapes(slots: int, streams: int) -> tuple[Shape, ...]:
    """Shape of each part in words, in the order of ``Table``."""
    return (
        (FACTS.itemsize // _WORD,),
        (streams * STREAM.itemsize // _WORD,),
        (-(-4 * streams * slots // _WORD),),
        (slots * RESIDENT.itemsize // _WORD,),
        (slots * DETAILS.itemsize // _WORD,),
        (slots,),
        (slots,),
        (slots,),
    )
