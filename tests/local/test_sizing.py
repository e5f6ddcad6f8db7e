"""Sizing from archives: what it measures is what a direct run gives."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

import shedjoin as sj
from shedjoin.cli.main import app
from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError
from shedjoin.local.measuring import on_terminal
from shedjoin.local.sizing import Measured, Sizing, readable
from shedjoin.spec.budget import parse_bytes
from support.asked import asked

Archive: TypeAlias = tuple[pa.Table, pa.Table]
MINUTE_US = 60_000_000
JOIN: dict[str, Any] = {
    "on": "ad_id",
    "within": sj.Within(after="5 minutes"),
    "time": ("shown_at", "clicked_at"),
}
QUICK: dict[str, Any] = {"parts": (0.1, 0.4), "micro_batch": "4 minutes"}


@pytest.fixture(scope="module")
def archive() -> Archive:
    """Impressions, and the clicks that follow some of them."""
    ((left, right),) = sj.local.clicks(
        impressions=2000, batches=1, seed=3, seconds=1800
    )
    return left, right


def sized(archive: Archive, **options: Any) -> Sizing:  # noqa: ANN401  (of any kind)
    left, right = archive
    return sj.size(left, right, **asked({**JOIN, **QUICK, **options}))


@pytest.fixture(scope="module")
def sizing(archive: Archive) -> Sizing:
    return sized(archive)


def pieces(archive: Archive) -> list[Archive]:
    """Micro-batches of four minutes, cut row by row."""
    numbers = [
        table[name].cast(pa.int64()).to_numpy() // (4 * MINUTE_US)
        for table, name in zip(archive, JOIN["time"], strict=True)
    ]
    return [
        (
            archive[0].filter(pa.array(numbers[0] == number)),
            archive[1].filter(pa.array(numbers[1] == number)),
        )
        for number in np.unique(np.concatenate(numbers))
    ]


def test_it_measures_what_direct_runs_give(archive: Archive, sizing: Sizing) -> None:
    batches = pieces(archive)
    exact = sj.local.join(batches, **asked(JOIN))
    held = [batch.report for batch in exact.batches]
    assert sizing.results == exact.results.num_rows
    assert sizing.seen == (2000, archive[1].num_rows)
    assert sizing.micro_batches == len(batches)
    assert sizing.peak_rows == max(sum(report.resident) for report in held)
    assert sizing.peak_bytes == max(report.state_bytes for report in held)
    assert sizing.mean_bytes == round(np.mean([report.state_bytes for report in held]))
    for size in sizing.sizes:
        budget = sj.Budget(memory=size.memory)
        run = sj.local.join(batches, **asked(JOIN), budget=budget)
        assert size.results == run.results.num_rows
        assert size.recall == run.results.num_rows / exact.results.num_rows


def test_recall_grows_with_memory_until_nothing_is_lost(sizing: Sizing) -> None:
    recalls = [size.recall for size in sizing.sizes]
    assert recalls[0] < 0.8
    assert recalls == sorted(recalls)
    assert recalls[-1] == 1.0
    assert sizing.sizes[-1].rows == sizing.peak_rows
    whole = sizing.sizes[-1].memory
    assert [size.memory / whole for size in sizing.sizes[:-1]] == pytest.approx(
        QUICK["parts"], rel=0.02
    )


def test_files_in_any_order_give_the_same(
    archive: Archive,
    sizing: Sizing,
    tmp_path: Path,
    rng: np.random.Generator,
) -> None:
    for name, time, table in zip("lr", JOIN["time"], archive, strict=True):
        (tmp_path / name).mkdir()
        empty = pa.nulls(5, table.schema.field(time).type)
        without = table.slice(0, 5).set_column(1, time, empty)
        mixed = pa.concat_tables([table, without])
        mixed = mixed.take(pa.array(rng.permutation(mixed.num_rows)))
        for number in range(3):
            part = mixed.take(pa.array(np.arange(number, mixed.num_rows, 3)))
            path = tmp_path / name / f"{number}.parquet"
            pq.write_table(part, path, row_group_size=100)
    found = sj.size(
        tmp_path / "l", str(tmp_path / "r" / "*.parquet"), **asked({**JOIN, **QUICK})
    )
    assert found == sizing


def test_importance_is_measured_where_it_is_to_be_kept(
    archive: Archive,
) -> None:
    keep = sj.MostImportant("bid")
    found = sized(archive, keep=keep, parts=[0.2])
    exact = (
        sj.local.join(pieces(archive), **asked(JOIN)).results["bid"].to_numpy().sum()
    )
    budget = sj.Budget(memory=found.sizes[0].memory)
    run = sj.local.join(pieces(archive), **asked(JOIN), budget=budget, keep=keep)
    assert found.sizes[0].recall == pytest.approx(
        run.results["bid"].to_numpy().sum() / exact
    )
    assert found.sizes[-1].recall == 1.0
    assert "recall (importance)" in str(found)


def test_more_is_measured_until_shards_lose_nothing(
    archive: Archive,
) -> None:
    left, right = (
        table.slice(0, 200).set_column(0, "ad_id", _skewed(200)) for table in archive
    )
    found = sized((left, right), parts=(), shards=5)
    assert len(found.sizes) > 1
    assert all(size.recall < 1.0 for size in found.sizes[:-1])
    assert found.sizes[-1].recall == 1.0
    assert found.sizes[-1].results == found.results


def _skewed(rows: int) -> pa.Array:
    """Most rows of one key, so that one shard has most of them."""
    number = np.arange(rows)
    return pa.array(np.where(number % 4 == 0, number, 0))


def test_a_column_that_is_not_carried_takes_no_memory(
    archive: Archive, sizing: Sizing
) -> None:
    columns = (["ad_id", "shown_at"], None)
    found = sized(archive, parts=(), columns=columns)
    assert found.results == sizing.results
    saved = sizing.sizes[-1].memory - found.sizes[-1].memory
    assert saved == pytest.approx(8 * found.peak_rows / 0.8, rel=0.2)


def test_room_for_all_rows_is_found_at_once_whatever_their_size(
    archive: Archive, rng: np.random.Generator
) -> None:
    left, right = (
        table.set_column(0, "ad_id", table["ad_id"].cast(pa.string())).append_column(
            name, pa.array(["x" * int(n) for n in rng.lognormal(4, 1, table.num_rows)])
        )
        for name, table in zip(("shown", "clicked"), archive, strict=True)
    )
    found = sized((left, right), parts=())
    assert [size.recall for size in found.sizes] == [1.0]
    assert [size.rows for size in found.sizes] == [found.peak_rows]


def handmade(*points: tuple[int, float]) -> Sizing:
    runs = tuple(Measured(bytes_, bytes_ // 100, 1, part) for bytes_, part in points)
    return Sizing((1, 1), 1, timedelta(seconds=1), 1, 1, 1, 1, 1, runs)


@pytest.mark.parametrize(
    ("recall", "memory"), [(0.1, 1000), (0.5, 1000), (0.6, 1500), (0.9, 4000)]
)
def test_memory_lies_between_the_sizes_that_were_measured(
    recall: float, memory: int
) -> None:
    found = handmade((1000, 0.5), (2000, 0.7), (3000, 0.8), (5000, 1.0))
    assert found.memory_for(recall) == memory
    assert found.rows_for(recall) == memory // 100
    assert parse_bytes(found.budget_for(recall).memory or 0) == memory


def test_a_lucky_run_does_not_count() -> None:
    found = handmade((1000, 0.5), (2000, 0.9), (3000, 0.8), (4000, 1.0))
    assert found.memory_for(0.85) == 3250


@pytest.mark.parametrize("recall", [0, -1, 1.01, float("nan")])
def test_what_is_no_recall_is_refused(recall: float) -> None:
    with pytest.raises(ParameterError, match=f"recall={recall!r}"):
        handmade((1000, 1.0)).memory_for(recall)


@pytest.mark.parametrize("size", [1, 999, 1000, 1001, 123_456, 999_999, 5 * 10**12 + 1])
def test_readable_sizes_are_rounded_up_a_little(size: int) -> None:
    assert size <= parse_bytes(readable(size)) <= 1.01 * size


def test_a_curve_is_drawn(sizing: Sizing, tmp_path: Path) -> None:
    axes = sizing.plot(Figure().subplots())
    memory, recall = axes.lines[0].get_data()
    assert np.asarray(memory).tolist() == [size.memory / 1e6 for size in sizing.sizes]
    assert np.asarray(recall).tolist() == [size.recall for size in sizing.sizes]
    sizing.plot(tmp_path / "recall.png")
    assert (tmp_path / "recall.png").read_bytes().startswith(b"\x89PNG")


def test_progress_is_told(archive: Archive) -> None:
    told: list[tuple[str, float]] = []
    sized(archive, parts=(), progress=lambda what, done: told.append((what, done)))
    assert [what for what, done in told if done == 1.0] == [
        "exact join",
        told[-1][0],
    ]
    assert told[-1][0].startswith("budget of")
    assert told == sorted(told, key=lambda each: (each[0] != "exact join", each[1]))


def test_progress_is_for_terminals(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_terminal("exact join", 0.5)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    on_terminal("exact join", 0.5)
    assert "exact join: 50%" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "error", "says"),
    [
        ({"on": "ad"}, ColumnError, r"no column 'ad'(.|\n)*'ad_id', 'shown_at', 'bid'"),
        (
            {"time": ("at", "clicked_at")},
            ColumnError,
            r"left stream has no column 'at'(.|\n)*'ad_id', 'shown_at', 'bid'",
        ),
        (
            {"time": ("shown_at", "ad_id")},
            ColumnTypeError,
            r"'ad_id' of the right stream is of type int64(.|\n)*'clicked_at'",
        ),
        ({"time": "shown_at"}, ColumnError, "right stream has no column 'shown_at'"),
        (
            {"keep": sj.MostImportant("price")},
            ColumnError,
            "by the column 'price'",
        ),
        ({"within": "a while"}, ParameterError, "'a while' is not a duration"),
        ({"parts": (0.1, 1.5)}, ParameterError, "has 1.5"),
        ({"micro_batch": "0 seconds"}, ParameterError, "micro_batch='0 seconds'"),
        ({"within": sj.Within(before="1 second")}, ParameterError, "has no results"),
    ],
    ids=str,
)
def test_what_cannot_be_measured_is_refused(
    archive: Archive,
    changed: dict[str, Any],
    error: type[Exception],
    says: str,
) -> None:
    with pytest.raises(error, match=says):
        sized(archive, **changed)


def test_archives_without_rows_are_refused(
    archive: Archive,
) -> None:
    left, right = (table.slice(0, 0) for table in archive)
    with pytest.raises(ParameterError, match="nothing to measure"):
        sized((left, right), micro_batch=None)


@pytest.fixture
def command(archive: Archive, tmp_path: Path) -> list[str]:
    paths = [tmp_path / "left.parquet", tmp_path / "right.parquet"]
    for table, path in zip(archive, paths, strict=True):
        pq.write_table(table, path)
    options = {"--after": "5 minutes", "--micro-batch": "4 minutes", "--on": "ad_id"}
    given = [text for option in options.items() for text in option]
    return ["size", *map(str, paths), *given, "--part", "0.1", "--part", "0.4"]


def test_the_command_prints_the_table(
    command: list[str], sizing: Sizing, tmp_path: Path
) -> None:
    picture = str(tmp_path / "recall.png")
    more = ["--time", "shown_at,clicked_at", "--recall", "0.95", "--plot", picture]
    done = CliRunner(env={"COLUMNS": "40"}).invoke(app, [*command, *more])
    assert done.exit_code == 0, done.output
    said = f"{sizing}\n\nFor a recall of 0.95: {sizing.budget_for(0.95)}\n"
    assert done.stdout == said
    assert Path(picture).exists()


def test_the_command_says_what_is_wrong(command: list[str]) -> None:
    done = CliRunner().invoke(app, [*command, "--time", "shown,clicked_at"])
    assert done.exit_code == 2
    assert "no column 'shown'" in done.output
    assert "'ad_id', 'shown_at', 'bid'" in done.output


@pytest.mark.slow
def test_recall_hardly_depends_on_the_cut() -> None:
    # Among a thousand results, a few more or less are far from the bound.
    ((left, right),) = sj.local.clicks(
        impressions=10_000, batches=1, seed=3, seconds=1800
    )
    found = sj.size(left, right, **asked(JOIN), parts=QUICK["parts"])
    finer = sj.size(
        left, right, **asked(JOIN), parts=QUICK["parts"], micro_batch="6 seconds"
    )
    assert found.micro_batch == timedelta(minutes=5) / 24
    memory = [size.memory for size in found.sizes]
    recall = [size.recall for size in found.sizes]
    for size in finer.sizes:
        assert size.recall == pytest.approx(
            np.interp(size.memory, memory, recall), abs=0.02
        )
