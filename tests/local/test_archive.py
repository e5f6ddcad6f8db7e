"""Archived streams: every row with a time is read once, in its micro-batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from shedjoin.errors import ColumnError, ParameterError
from shedjoin.local import cutting
from shedjoin.local.archive import ArchivedStream, open_stream
from shedjoin.local.cutting import Cut, micro_batches

SECOND = 1_000_000
KINDS = [
    pa.timestamp("s"),
    pa.timestamp("ms", "Europe/Berlin"),
    pa.timestamp("us"),
    pa.timestamp("us", "UTC"),
    pa.timestamp("ns"),
]


def rows(kind: pa.DataType, rng: np.random.Generator) -> pa.Table:
    """Rows in no order: around 1970, a year later, on borders, and without a time."""
    seconds = np.concatenate(
        [rng.integers(-300, 300, 400), 50_000_000 + rng.integers(0, 90, 100), [0, 60]]
    )
    time = pa.array(rng.permutation(seconds), pa.timestamp("s")).cast(kind)
    time = pa.concat_arrays([time, pa.nulls(7, kind)])
    return pa.table({"id": np.arange(509), "at": time, "x": rng.random(509)})


def stream_of(table: pa.Table, folder: Path) -> ArchivedStream:
    for number in range(3):
        part = table.slice(number * 200, 200)
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=64)
    return open_stream("left", folder, "at", None)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_row_with_a_time_is_read_once_in_its_micro_batch(
    kind: pa.DataType, tmp_path: Path, rng: np.random.Generator
) -> None:
    table = rows(kind, rng)
    other = pa.table({"at": pa.array([130 * SECOND], pa.timestamp("us"))})
    streams = [stream_of(table, tmp_path), open_stream("right", other, "at", None)]
    cut = Cut.by_length(streams, 60 * SECOND)
    batches = list(micro_batches(streams, cut))
    known = table.filter(table["at"].is_valid())
    second = known["at"].cast(pa.timestamp("s")).cast(pa.int64()).to_numpy()
    for number, (left, _) in zip(cut.numbers.tolist(), batches, strict=True):
        there = known.filter(pa.array(second // 60 == number))
        assert sorted(left["id"].to_pylist()) == sorted(there["id"].to_pylist())
    assert sum(left.num_rows for left, _ in batches) == known.num_rows
    assert [right.num_rows for _, right in batches].index(1) == 7  # -5 to 4, 130 s is 2


def test_few_rows_are_in_memory_at_once(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "_READ_ROWS", 100)
    stream = stream_of(rows(pa.timestamp("us"), rng), tmp_path)
    cut = Cut.by_length([stream], 10 * SECOND)
    readings = [cut.rows[reading] for reading in cut.readings()]
    assert len(readings) >= 5
    assert all(each.sum() <= 100 or each.size == 1 for each in readings)
    assert sum(table.num_rows for (table,) in micro_batches([stream], cut)) == 502


def test_row_groups_of_other_times_are_not_read(tmp_path: Path) -> None:
    """Pages of the second row group are overwritten: reading them would fail."""
    time = pa.array(np.arange(2000) * SECOND, pa.timestamp("us", "UTC"))
    path = tmp_path / "sorted.parquet"
    pq.write_table(
        pa.table({"at": time}), path, row_group_size=1000, use_dictionary=False
    )
    column = pq.read_metadata(path).row_group(1).column(0)
    content = bytearray(path.read_bytes())
    start = column.data_page_offset
    content[start : start + column.total_compressed_size] = bytes(
        column.total_compressed_size
    )
    path.write_bytes(content)
    stream = open_stream("left", path, "at", None)
    assert stream.between(0, 1000 * SECOND).num_rows == 1000
    with pytest.raises(OSError, match=r".*"):
        stream.between(0, 1001 * SECOND)


def test_micro_batches_get_longer_where_there_would_be_too_many(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    stream = open_stream("left", rows(pa.timestamp("us"), rng), "at", None)
    whole = Cut.by_window([stream], 24 * 5 * SECOND)
    assert whole.length_us == 5 * SECOND
    monkeypatch.setattr(cutting, "_MOST", 40)
    cut = Cut.by_window([stream], 24 * 5 * SECOND)
    assert cut.length_us > 5 * SECOND
    assert 30 <= cut.numbers.size <= 40
    again = Cut.by_length([stream], cut.length_us)
    assert cut.numbers.tolist() == again.numbers.tolist()
    assert cut.rows.tolist() == again.rows.tolist()
    assert Cut.by_window([stream], 0).length_us >= SECOND


@pytest.mark.parametrize("pattern", ["day=*", "day=*/*.parquet", "", "**/*.parquet"])
def test_what_a_path_may_be(tmp_path: Path, pattern: str) -> None:
    for day in (1, 2):
        folder = tmp_path / f"day={day}"
        folder.mkdir()
        time = pa.array([day * SECOND], pa.timestamp("us"))
        pq.write_table(pa.table({"at": time}), folder / "part.parquet")
        (folder / "_SUCCESS").touch()
    stream = open_stream("left", str(tmp_path / pattern), "at", None)
    assert stream.schema.names[0] == "at"
    assert stream.between(None, 10 * SECOND).num_rows == 2


def test_only_the_named_columns_are_read(rng: np.random.Generator) -> None:
    table = ds.dataset(rows(pa.timestamp("us"), rng))
    stream = open_stream("left", table, "at", ["at", "id"])
    assert stream.between(None, SECOND).column_names == ["at", "id"]
    with pytest.raises(ColumnError, match=r"no column 'y'(.|\n)*'id', 'at', 'x'"):
        open_stream("left", table, "at", ["at", "y"])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("none.parquet", "cannot be read as Parquet"),
        ("*.none", "cannot be read as Parquet"),
        ("text.parquet", "cannot be read as Parquet"),
        ("empty", "is a folder without Parquet files"),
    ],
)
def test_what_cannot_be_read_is_refused(name: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text("no Parquet")
    with pytest.raises(ParameterError, match=f"left=.*{says}"):
        open_stream("left", tmp_path / name, "at", None)


def test_what_is_no_archive_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"right=\[1\] is neither a path nor"):
        open_stream("right", [1], "at", None)
