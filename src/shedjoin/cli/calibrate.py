"""``shedjoin calibrate``: what the work of a join costs on an engine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from shedjoin.control.folder import Control

SAYS = {
    "floor": "a micro-batch",
    "row": "a row that is read, packed and shuffled",
    "update": "a row that is stored",
    "match": "a result",
}


def measure(
    control: Annotated[
        Path | None,
        typer.Argument(help="Control folder that is to know the costs from now on."),
    ] = None,
    scratch: Annotated[
        Path | None,
        typer.Option(help="Folder for made-up streams, which all executors can read."),
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(min=1, help="Shards of the join to come; else one for each core."),
    ] = None,
) -> None:
    """Measure what the work of a join costs on Spark, in about a minute.

    The session is that of the environment: its master, cores and settings.
    """
    from shedjoin.spark.calibration import calibrate

    # Else workers run whatever python3 is first on the path, which may not know us.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    costs = calibrate(scratch, shards, tell=Console(stderr=True).print)
    table = Table("seconds", "of", box=None)
    for name, seconds in costs._asdict().items():
        table.add_row(f"{seconds:.3g}", SAYS[name])
    Console().print(table)
    if control is not None:
        Control(control).set_costs(costs._asdict())
