"""What the logs of a checkpoint say that each micro-batch has read."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from .budgets import Tables
from .sources import NAMES


def numbers_read(checkpoint: Path, place: int) -> dict[int, list[str]]:
    """Files of a source by the number under which its own log has them."""
    found: dict[int, set[str]] = {}
    for log in (checkpoint / "sources" / str(place)).glob("[0-9]*"):
        for line in log.read_text().splitlines()[1:]:
            entry = json.loads(line)
            found.setdefault(entry["batchId"], set()).add(Path(entry["path"]).name)
    return {number: sorted(names) for number, names in found.items()}


def micro_batches(checkpoint: Path, sent: Tables) -> Tables:
    """What the query read in each micro-batch.

    A file stream that is killed between its own log and the query's puts two files
    into one micro-batch, and what is shed depends on how rows are batched.
    """
    sides: list[list[pa.Table]] = []
    for place in range(len(NAMES)):
        none = sent[0][place].slice(0, 0)
        sides.append(
            [
                pa.concat_tables(
                    [none, *(sent[int(name.split("-")[0])][place] for name in names)]
                )
                for names in files_read(checkpoint, place)
            ]
        )
    return list(zip(*sides, strict=True))


def files_read(checkpoint: Path, place: int) -> list[list[str]]:
    """Names of the files of a source that each micro-batch has read."""
    logs = sorted(checkpoint.glob("offsets/[0-9]*"), key=lambda log: int(log.name))
    ends = [-1]
    for log in logs:
        offset = log.read_text().splitlines()[2 + place]
        ends.append(-1 if offset == "-" else json.loads(offset)["logOffset"])
    files = numbers_read(checkpoint, place)
    return [
        [name for number in range(before + 1, after + 1) for name in files[number]]
        for before, after in pairwise(ends)
    ]
