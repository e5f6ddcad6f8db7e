"""Shards of an archive: rows of different ones do not meet, each has its memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from shedjoin.errors import ColumnError, ParameterError
from shedjoin.lab.offline import StarArchive, star_join, star_optimum

from .stars import archive_of, drawn


def sharded(rng: np.random.Generator, shards: int) -> StarArchive:
    archive = archive_of(drawn(rng, rows=40, instants=15))
    left, right = (
        table.append_column("shard", pa.array(rng.integers(shards, size=len(table))))
        for table in (archive.left, archive.right)
    )
    return replace(archive, left=left, right=right, shard="shard")


def one_shard(archive: StarArchive, number: int) -> StarArchive:
    left, right = (
        table.filter(pc.equal(table["shard"], number))
        for table in (archive.left, archive.right)
    )
    return replace(archive, left=left, right=right, shard=None)


@pytest.mark.parametrize("seed", range(20))
def test_each_shard_is_an_archive_of_its_own(seed: int) -> None:
    archive = sharded(np.random.default_rng(seed), 3)
    alone = [one_shard(archive, number) for number in range(3)]
    best = star_optimum(archive, rows=(2, 1))
    each = [star_optimum(one, rows=(2, 1)) for one in alone]
    for part in ("left", "right", "same"):
        found = [getattr(one.parts, part) for one in each]
        assert getattr(best.parts, part).size == sum(one.size for one in found)
        assert getattr(best.parts, part).importance == sum(
            one.importance for one in found
        )
    exact = star_join(archive)
    assert exact.size == sum(star_join(one).size for one in alone)


def test_rows_are_told_by_their_place_in_the_archive() -> None:
    archive = sharded(np.random.default_rng(10), 3)
    best = star_optimum(archive, rows=(2, 2))
    for stream, stays in ((archive.left, best.left), (archive.right, best.right)):
        assert stays.num_rows > 0
        times = stream["time"].take(stays["row"])
        assert times.to_pylist() == stays["stored_from"].to_pylist()
    for now in range(15):
        for stream, rows in zip(
            (archive.left, archive.right), best.kept_at(now), strict=True
        ):
            held = stream["shard"].take(pa.array(rows, pa.int64())).to_pylist()
            assert all(held.count(number) <= 2 for number in range(3))


def test_no_rows_are_in_no_shard() -> None:
    archive = sharded(np.random.default_rng(2), 3)
    nothing = replace(archive, left=archive.left[:0], right=archive.right[:0])
    assert star_optimum(nothing, rows=4).size == star_join(nothing).size == 0


def test_what_is_refused() -> None:
    archive = sharded(np.random.default_rng(3), 2)
    unknown = archive.left.drop_columns("shard").append_column(
        "shard", pa.nulls(archive.left.num_rows, pa.int64())
    )
    with pytest.raises(ParameterError, match=r"rows have no 'shard'.*\nFix: "):
        star_optimum(replace(archive, left=unknown), rows=2)
    with pytest.raises(ColumnError, match="no column 'part'"):
        star_optimum(replace(archive, shard="part"), rows=2)
    with pytest.raises(ParameterError, match=r"left is of type DataFrame.*\nFix: "):
        star_optimum(replace(archive, left=archive.left.to_pandas()), rows=2)
