"""What an experiment yields: numbers, claims held against them, a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from matplotlib.figure import Figure
from rich.progress import Progress

Value = float | str
Verdict = Literal["holds", "in part", "does not hold"]
T = TypeVar("T")


class Point(NamedTuple):
    """One number of a table or figure.

    ``published`` is what the text of the paper states, ``reference`` what independent
    plain simulations gave, each empty if there is none.
    """

    panel: str
    series: str
    x: Value
    measure: str
    measured: Value
    published: Value = ""
    reference: Value = ""


class Claim(NamedTuple):
    """A statement of the paper and what became of it."""

    where: str
    says: str
    measured: str
    verdict: Verdict
    why: str = ""


@dataclass(slots=True)
class Part:
    """One table or figure."""

    name: str
    title: str
    x: str
    points: list[Point]
    claims: list[Claim] = field(default_factory=list)
    figure: Figure | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """How large the experiments are, and where progress shows."""

    quick: bool
    display: Progress

    def each(self, items: Sequence[T], name: str) -> Iterator[T]:
        """Go through items while the display counts them."""
        task = self.display.add_task(name, total=len(items))
        for item in items:
            yield item
            self.display.advance(task)


def verdict(*held: bool) -> Verdict:
    """All, some or none of it holds."""
    if all(held):
        return "holds"
    return "in part" if any(held) else "does not hold"


def find(points: Iterable[Point], **where: Value) -> list[Point]:
    """Points whose fields have these values."""
    return [
        point
        for point in points
        if all(getattr(point, name) == value for name, value in where.items())
    ]


def values(points: Iterable[Point], **where: Value) -> list[float]:
    """Measured numbers of points whose fields have these values."""
    return [float(point.measured) for point in find(points, **where)]
