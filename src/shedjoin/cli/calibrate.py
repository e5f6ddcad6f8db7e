"""``shedjoin calibrate``: what the work of a join costs on Spark."""

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
        typer.Argument(help="Control folder in which to store the costs."),
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
    """Measure the seconds that the work of a join takes on Spark, in about a minute.

    The Spark session has the settings of the environment: master, cores and all others.
    """
    from shedjoin.spark.calibration import calibrate

    # Otherwise workers run the first python3 on the path, which may lack this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    costs = calibrate(scratch, shards, tell=Console(stderr=True).print)
    table = Table("seconds", "of", box=None)
    for name, seconds in costs._asdict().items():
        table.add_row(f"{seconds:.3g}", SAYS[name])
    Console().print(table)
    if control is not None:
        Control(control).set_costs(costs._asdict())
