"""A benchmark on an earlier revision and on this code, in turns.

``python -m benchmarks.against f094c16 kernels --rounds 3`` checks the revision out
beside the working tree, runs the benchmark in both, one after the other, and prints the
median of every figure with the ratio of new to old.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.console import note, show
from benchmarks.record import Record

HERE = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against")
    parser.add_argument("revision", help="of the code to compare with")
    parser.add_argument("name", help="of the benchmark")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to try it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        old = Path(scratch, "old")
        _git("worktree", "add", "--detach", str(old), options.revision)
        try:
            found: dict[str, list[dict[str, float]]] = {"old": [], "new": []}
            for number in range(options.rounds):
                turns = {"old": old, "new": HERE}
                for side in sorted(turns, reverse=number % 2 == 0):
                    figures = _run(turns[side], options.name, quick=options.quick)
                    found[side].append(figures)
                    note(f"round {number + 1} {side}: {figures}")
        finally:
            _git("worktree", "remove", "--force", str(old))
    show(_record(options.name, options.revision, found))


def _git(*words: str) -> None:
    subprocess.run(["git", "-C", str(HERE), *words], check=True, capture_output=True)


def _run(tree: Path, name: str, *, quick: bool) -> dict[str, float]:
    """Figures of one run, with the library and the benchmark of that tree."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "record.json")
        words = [sys.executable, "-m", "benchmarks", name]
        if name == "ours":  # older revisions do not have it
            words = [sys.executable, str(HERE / "benchmarks" / "ours.py")]
        words += ["--json", str(path)]
        subprocess.run(
            words + ["--quick"] * quick,
            cwd=tree,
            env=os.environ | {"PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        told = json.loads(path.read_text())
    return {name: value for name, value in told.items() if isinstance(value, float)}


def _record(
    name: str, revision: str, found: dict[str, list[dict[str, float]]]
) -> Record:
    shared = [figure for figure in found["new"][0] if figure in found["old"][0]]
    old, new = (
        {figure: median(run[figure] for run in found[side]) for figure in shared}
        for side in ("old", "new")
    )
    figures = {
        f"{figure}_{side}": value[figure]
        for figure in shared
        for side, value in (("old", old), ("new", new))
    }
    figures |= {f"{figure}_new_by_old": new[figure] / old[figure] for figure in shared}
    sizes = {"revision": revision, "rounds": len(found["new"])}
    return Record(f"{name} against {revision}", sizes, figures)


main()
