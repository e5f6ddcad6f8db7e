"""Figures 2 and 3: the example of the paper."""

from __future__ import annotations

import pyarrow as pa

from experiments.part import Claim, Part, Point, Session, verdict
from shedjoin.lab.offline import Parts, StarArchive, star_join, star_optimum

PUBLISHED = {"EXACT": (15, 43), "OSSJ": (11, 38), "SJA-S": (12, 34)}
MEMORY = 4
PARTS_OF = ("R graph", "S graph", "SA graph")


def archive() -> StarArchive:
    """Section 3.1.1: six rows of each stream, m = 4."""
    left = _stream("a", [1, 0, 1, 0, 2, 5], [5, 1, 4, 8, 3, 2])
    right = _stream("b", [1, 3, 3, 8, 3, 5], [1, 5, 2, 6, 4, 3])
    relation = pa.table(
        {
            "a": [0, 1, 0, 4, 1, 5],
            "b": [3, 5, 8, 5, 3, 8],
            "begin": [-1, -1, -1, -1, -1, 3],
            "end": [None, None, None, None, 5, None],
        }
    )
    return StarArchive(
        left,
        right,
        relation,
        on=(("a", "a"), ("b", "b")),
        within=3,
        importance="importance",
        valid=("begin", "end"),
    )


def _stream(key: str, values: list[int], importance: list[int]) -> pa.Table:
    time = range(len(values))
    return pa.table({"time": time, key: values, "importance": importance})


def measure(session: Session) -> list[Part]:  # noqa: ARG001
    given = archive()
    found = {
        "EXACT": star_join(given),
        "OSSJ": star_optimum(given, rows=MEMORY).parts,
        "SJA-S": star_optimum(given, rows=MEMORY, most="results").parts,
    }
    points = [point for name, parts in found.items() for point in _points(name, parts)]
    part = Part("figures_2_and_3_example", "Figures 2 and 3: the example", "of", points)
    part.claims = [
        Claim(
            "Figures 2 and 3",
            "; ".join(
                f"{name} {size}, {imp}" for name, (size, imp) in PUBLISHED.items()
            )
            + " (results, importance)",
            "; ".join(
                f"{name} {parts.size}, {parts.importance:g}"
                for name, parts in found.items()
            ),
            verdict(
                *(
                    (parts.size, parts.importance) == PUBLISHED[name]
                    for name, parts in found.items()
                )
            ),
            "Of the results of SJA-S four importances are possible: 31, 32, 34, 35.",
        )
    ]
    return [part]


def _points(name: str, parts: Parts) -> list[Point]:
    size, importance = PUBLISHED[name]
    points = [
        Point("", name, "all", "results", parts.size, size),
        Point("", name, "all", "importance", parts.importance, importance),
    ]
    for where, total in zip(PARTS_OF, parts, strict=True):
        points.append(Point("", name, where, "results", total.size))
        points.append(Point("", name, where, "importance", total.importance))
    return points
