"""Divides an archive of two streams into its shards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.lab.offline.star import StarArchive
from shedjoin.lab.offline.star_columns import (
    Star,
    Stream,
    coded,
    named_column,
    one_each,
    star_columns,
)
from shedjoin.types import IntArray


class Shard(NamedTuple):
    """Archive of one shard, with the numbers of its rows in the whole tables."""

    star: Star
    rows: tuple[IntArray, IntArray]


def star_shards(archive: StarArchive) -> list[Shard]:
    """Check an archive and divide it into shards; without shards, return it as one."""
    star = star_columns(archive)
    if archive.shard is None:
        every = [np.arange(stream.time.size) for stream in (star.left, star.right)]
        return [Shard(star, (every[0], every[1]))]
    codes = _codes(archive)
    shards = 1 + max(int(code.max(initial=0)) for code in codes)
    return [
        Shard(
            star._replace(
                left=_some(star.left, rows[0]), right=_some(star.right, rows[1])
            ),
            rows,
        )
        for rows in zip(*(_by_code(code, shards) for code in codes), strict=True)
    ]


def _codes(archive: StarArchive) -> tuple[IntArray, IntArray]:
    """Shard of each row of both streams, as numbers from 0 on."""
    names = one_each("shard", archive.shard)
    columns = [
        named_column(side, table, name)
        for side, table, name in zip(
            ("left", "right"), (archive.left, archive.right), names, strict=True
        )
    ]
    for name, column in zip(names, columns, strict=True):
        if column.null_count:
            raise ParameterError(
                f"{column.null_count} rows have no {name!r}, so they are in no shard.",
                fix="leave them out, or give them a shard of their own.",
            )
    return coded(*columns)


def _by_code(code: IntArray, codes: int) -> list[IntArray]:
    """Indices of the rows of each code, in ascending order."""
    order = np.argsort(code, kind="stable")
    return np.split(order, np.searchsorted(code[order], np.arange(1, codes)))


def _some(stream: Stream, rows: IntArray) -> Stream:
    return Stream(stream.time[rows], stream.key[rows], stream.importance[rows])
