"""The ``shedjoin`` command."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import typer
from rich.console import Console
from rich.table import Table

from shedjoin.cli.calibrate import measure
from shedjoin.cli.capabilities import print_page
from shedjoin.cli.control import app as control
from shedjoin.cli.size import measure as size
from shedjoin.kernels.jit import CACHED
from shedjoin.state.directory import FORMAT

app = typer.Typer(help="Stream joins inside a budget.", no_args_is_help=True)
app.add_typer(control, name="control")
app.command("calibrate")(measure)
app.command("size")(size)
app.command("capabilities")(print_page)

PACKAGES = ("shedjoin", "numpy", "numba", "pyarrow", "pyspark", "pandas", "protobuf")


@app.callback()
def shedjoin() -> None:
    """Stream joins inside a budget, on Spark."""


@app.command()
def info() -> None:
    """Show versions and settings: the text to paste into a bug report."""
    table = Table(show_header=False, box=None)
    table.add_row("python", platform.python_version())
    for name in PACKAGES:
        table.add_row(name, _version(name))
    table.add_row("state format", str(FORMAT))
    table.add_row("kernel cache", "on disk" if CACHED else "none: compiled every time")
    Console().print(table)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
