"""``shedjoin size``: recall against memory, measured on archived streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TaskID

from shedjoin.cli.control import fail
from shedjoin.errors import ShedjoinError
from shedjoin.policies.goals import MostImportant
from shedjoin.request.options import Options
from shedjoin.sizing import PARTS, size
from shedjoin.spec.window import Within

Parquet = Annotated[
    str, typer.Argument(help="Parquet: a file, a folder, or a pattern in quotes.")
]


def measure(  # noqa: PLR0913  (a parameter for each option)
    left: Parquet,
    right: Parquet,
    *,
    on: Annotated[str, typer.Option(help="Key columns: id, or a,b, or left=right.")],
    time: Annotated[str, typer.Option(help="Event times of both: shown_at,clicked_at")],
    within: Annotated[
        str | None,
        typer.Option(help="How far apart times may lie, both ways: '15 minutes'."),
    ] = None,
    before: Annotated[
        str | None, typer.Option(help="How far before the left row, if it differs.")
    ] = None,
    after: Annotated[
        str | None, typer.Option(help="How far after the left row, if it differs.")
    ] = None,
    keep_importance: Annotated[
        str | None,
        typer.Option(help="Column of importance: recall is the share of its sum."),
    ] = None,
    columns: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Columns of both that the query carries: id,a,x id,b"),
    ] = None,
    lateness: Annotated[str, typer.Option(help="Delay of watermarks.")] = "0 seconds",
    shards: Annotated[int, typer.Option(min=1, help="Shards of the query.")] = 1,
    part: Annotated[
        list[float] | None,
        typer.Option(
            help="Memory to measure, as a part of one that holds every row; repeat for "
            "more."
        ),
    ] = None,
    micro_batch: Annotated[
        str | None, typer.Option(help="Trigger interval of the query.")
    ] = None,
    recall: Annotated[
        float | None, typer.Option(help="Print the memory that this recall needs.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the curve into this file.")
    ] = None,
) -> None:
    """Measure recall against memory on archived streams, before a query is started.

    --within limits the time in both directions. Use --after alone if right rows always
    come later than left rows.
    """
    keys = [name.partition("=") for name in on.split(",")]
    carried = [own.split(",") for own in columns] if columns else (None, None)
    try:
        with _bars() as progress:
            found = size(
                left,
                right,
                on={
                    "left": [own for own, _, _ in keys],
                    "right": [other or own for own, _, other in keys],
                },
                within=Within(before=before or within, after=after or within),
                time=_names(time),  # type: ignore[arg-type]  # is checked
                keep=MostImportant(keep_importance) if keep_importance else None,
                lateness=lateness,
                options=Options(shards=shards),
                columns=carried,
                parts=part or PARTS,
                micro_batch=micro_batch,
                progress=progress,
            )
        lines = [str(found)]
        if recall is not None:
            lines += ["", f"For a recall of {recall:g}: {found.budget_for(recall)}"]
        if plot is not None:
            found.plot(plot)
    except ShedjoinError as error:
        fail(error.problem, error.fix)
    Console().print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def _names(given: str) -> str | tuple[str, ...]:
    """One name for both streams, or one for each."""
    names = tuple(given.split(","))
    return given if len(names) == 1 else names


@contextmanager
def _bars() -> Iterator[Callable[[str, float], None]]:
    """A progress bar for each run, if standard error is a terminal."""
    console = Console(stderr=True)
    tasks: dict[str, TaskID] = {}
    with Progress(console=console, disable=not console.is_terminal) as bars:

        def show(what: str, done: float) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=1.0)
            bars.update(tasks[what], completed=done)

        yield show
