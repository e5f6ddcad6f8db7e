"""``shedjoin control``: send messages to joins, and list what became of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shedjoin.control.folder import Control
from shedjoin.control.message import decode_message
from shedjoin.errors import ShedjoinError

_SHOWN = 60
"""Characters of a message that a list shows."""

app = typer.Typer(help="Steer running joins by messages.", no_args_is_help=True)
Folder = Annotated[
    Path,
    typer.Argument(help="The folder given to the join.", exists=True, file_okay=False),
]


@app.command()
def send(
    folder: Folder,
    settings: Annotated[
        str, typer.Argument(help='What to set, such as \'{"budget": {"rows": 1000}}\'.')
    ],
) -> None:
    """Send a message to all joins that read the folder."""
    try:
        told = json.loads(settings)
    except ValueError as error:
        fail(f"{settings!r} is not JSON: {error}.", 'write {"budget": {"rows": 1000}}')
    if not isinstance(told, dict):
        fail(f"{settings!r} is not an object.", 'write {"budget": {"rows": 1000}}')
    try:
        name = Control(folder).send(**told)
    except ShedjoinError as error:
        fail(error.problem, error.fix)
    Console().print(name)


@app.command("list")
def list_messages(folder: Folder) -> None:
    """Show the messages of a folder, and what became of them in every join."""
    control = Control(folder)
    names = ("message", "sets", "join", "from micro-batch", "refused because")
    table = Table(*names, box=None)
    read = set()
    for join in control.joins():
        for entry in control.applied(join):
            read.add(entry.name)
            sets = _sets(folder / entry.name)
            when = str(entry.micro_batch)
            table.add_row(entry.name, sets, join, when, entry.refused)
    for name in control.sent():
        if name not in read:
            table.add_row(name, _sets(folder / name), "", "not read yet", "")
    Console().print(table)
    _show_loads(control)


def _sets(message: Path) -> str:
    """The settings of a message, shortened; empty if the message cannot be read."""
    try:
        settings = decode_message(message.read_bytes())
    except (OSError, ShedjoinError):
        return ""
    text = ", ".join(f"{name}: {json.dumps(told)}" for name, told in settings.items())
    return escape(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _show_loads(control: Control) -> None:
    """Show the time of the micro-batches of joins that have a CPU budget."""
    names = ("micro_batch", "seconds", "target", "floor", "share")
    table = Table("join", *(name.replace("_", "-") for name in names), box=None)
    for join in control.joins():
        load = control.load(join)
        if load:
            table.add_row(join, *(str(load[name]) for name in names))
    if table.row_count:
        Console().print(table)


def fail(problem: str, fix: str) -> NoReturn:
    """Print the problem and its fix; exit with the status of a usage error."""
    Console(stderr=True).print(f"{problem}\nFix: {fix}", markup=False, highlight=False)
    raise typer.Exit(2)
