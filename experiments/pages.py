"""CSV, PNG and Markdown files of a paper."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

from experiments.part import Part, Point, Value, find

DOTS_PER_INCH, COLOURS = 80, 64


def write(folder: Path, title: str, intro: str, parts: Sequence[Part]) -> None:
    """Write one CSV and one PNG per part, and RESULTS.md over all."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in parts:
        _csv(folder / f"{part.name}.csv", part)
        if part.figure is not None:
            _png(folder / f"{part.name}.png", part.figure)
    sections = [f"# {title}", intro, _claims(parts), *map(_section, parts)]
    text = "\n\n".join(section for section in sections if section)
    (folder / "RESULTS.md").write_text(text + "\n")


def shown(value: Value) -> str:
    """A number with the digits that mean something; text as it is."""
    if isinstance(value, str):
        return value
    if value == round(value) or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def _png(path: Path, figure: Figure) -> None:
    """Save a picture in few colours: the files are kept with the pages."""
    full = BytesIO()
    figure.savefig(full, dpi=DOTS_PER_INCH)
    plt.close(figure)
    few = Image.open(full).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def _csv(path: Path, part: Part) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        head = ("data", "series", part.x, "measure")
        rows.writerow([*head, "published", "reference", "measured"])
        for point in part.points:
            last = (point.published, point.reference, point.measured)
            rows.writerow([*point[:4], *map(_exact, last)])


def _exact(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def _claims(parts: Sequence[Part]) -> str:
    lines = ["| where | the paper says | measured | verdict | why |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for part in parts:
        for claim in part.claims:
            where, says, measured, found, why = claim
            mark = found if found == "holds" else f"**{found}**"
            lines.append(f"| {where} | {says} | {measured} | {mark} | {why} |")
    return "## What holds\n\n" + "\n".join(lines)


def _section(part: Part) -> str:
    blocks = [f"## {part.title}"]
    if part.figure is not None:
        blocks.append(f"![{part.title}]({part.name}.png)")
    blocks.append(f"All numbers: [{part.name}.csv]({part.name}.csv).")
    groups = dict.fromkeys((point.panel, point.measure) for point in part.points)
    for panel, measure in groups:
        name = ", ".join(text for text in (panel, measure) if text)
        table = _pivot(find(part.points, panel=panel, measure=measure), part.x)
        blocks.append(f"**{name}**\n\n{table}" if name else table)
    return "\n\n".join(blocks)


def _pivot(points: Sequence[Point], x: str) -> str:
    places = list(dict.fromkeys(point.x for point in points))
    lines = [f"| {x} | " + " | ".join(map(shown, places)) + " |"]
    lines.append("| --- |" + " ---: |" * len(places))
    for series in dict.fromkeys(point.series for point in points):
        mine = {point.x: point for point in points if point.series == series}
        cells = [_cell(mine[place]) if place in mine else "" for place in places]
        lines.append(f"| {series} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(point: Point) -> str:
    text = shown(point.measured)
    if point.published != "":
        text += f" (paper {shown(point.published)})"
    if point.reference != "":
        text += f" [{shown(point.reference)}]"
    return text
