"""Progress and tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from benchmarks.record import Record

console = Console(stderr=True)


@contextmanager
def progress() -> Iterator[Progress]:
    """A progress display; plain lines when the output is not a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as display:
        yield display


def note(text: str) -> None:
    """Say what has just been done."""
    console.print(text, highlight=False)


def show(record: Record) -> None:
    """Print the figures of a record."""
    table = Table(title=record.name, title_justify="left")
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, value in (record.sizes | record.figures).items():
        table.add_row(name, _text(value))
    Console().print(table)


def _text(value: Any) -> str:  # noqa: ANN401  (whatever JSON can hold)
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 1000 else f"{value:,.0f}"
    plain = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if plain else str(value)
