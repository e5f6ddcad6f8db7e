"""Command line of the experiments."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path

from benchmarks.console import note, progress
from experiments.pages import write
from experiments.part import Part, Session

PAPERS = {
    "ijoin": "iJoin (Kulkarni and Ravishankar, SSDBM 2008)",
    "memory_limited": "Memory-limited joins (Srivastava and Widom, VLDB 2004)",
    "cpu_limited": "CPU-limited joins (Ayad et al., 2005)",
    "grubjoin": "GrubJoin (Gedik et al., 2007)",
    "star_streaming": "Star-streaming joins (Towne et al., CASCON 2007)",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Measure the tables and figures of a paper with the operator: "
        + "; ".join(f"{name}: {what}" for name, what in PAPERS.items()),
    )
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to try it")
    parser.add_argument("--out", type=Path, help="folder for CSV, PNG and RESULTS.md")
    options = parser.parse_args()
    paper = importlib.import_module(f"experiments.{options.paper}.paper")
    measures: list[Callable[[Session], list[Part]]] = paper.PARTS
    folder = options.out or Path("docs", "experiments", options.paper)
    parts: list[Part] = []
    with progress() as display:
        session = Session(quick=options.quick, display=display)
        for measure in session.each(measures, options.paper):
            for part in measure(session):
                note(f"{part.name}: {len(part.points)} numbers")
                parts.append(part)
    write(folder, PAPERS[options.paper], paper.intro(session), parts)
    note(f"written to {folder}")


main()
