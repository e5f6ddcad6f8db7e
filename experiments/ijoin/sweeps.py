"""Figures 2 to 5: memory, window, domain and the unproductivity threshold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.charts import EXACT
from experiments.ijoin.runs import MEASURES, Setting, mean
from experiments.ijoin.schemes import SCHEMES
from experiments.ijoin.streams import DRIFTING_BY_VALUE, UNIFORM
from experiments.part import Point, Session, Value, find
from shedjoin.policies import Fifo, Policy

PANELS = (UNIFORM, DRIFTING_BY_VALUE)
LABELS = {
    "importance": "total\nimportance",
    "outputs": "output size\n(rows)",
    "fairness": "fairness\n(Jain's index)",
}
Known = Mapping[tuple[str, str, float, str], float]
"""(panel, series, x, measure) to a number."""


def seeds(session: Session) -> range:
    return range(1 if session.quick else 5)


def steps(session: Session) -> int:
    return 60 if session.quick else 500


@dataclass(frozen=True, slots=True)
class Sweep:
    """A parameter, its values, and what is known of the outcome."""

    name: str
    settings: Mapping[float, Setting]
    panels: Sequence[str] = PANELS
    published: Known | None = None
    reference: Known | None = None

    def measure(
        self,
        session: Session,
        schemes: Callable[[float], Mapping[str, Policy]] = lambda _: SCHEMES,
        *,
        exact: bool = True,
    ) -> list[Point]:
        """Run every scheme at every place; ``schemes`` may depend on the place."""
        cases = [(panel, x) for panel in self.panels for x in self.settings]
        points: list[Point] = []
        for panel, x in session.each(cases, self.name):
            setting = replace(self.settings[x], data=panel)
            if exact:
                whole = replace(setting, memory=0)
                points += self._points(EXACT, x, whole, (Fifo(), session))
            for name, policy in schemes(x).items():
                points += self._points(name, x, setting, (policy, session))
        return points

    def _points(
        self, series: str, x: float, setting: Setting, how: tuple[Policy, Session]
    ) -> list[Point]:
        (policy, session), panel = how, setting.data
        score = mean(setting, policy, seeds(session))._asdict()
        return [
            Point(
                panel,
                series,
                x,
                measure,
                score[measure],
                _known(self.published, (panel, series, x, measure)),
                _known(self.reference, (panel, series, x, measure)),
            )
            for measure in MEASURES
            if (series, measure) != (EXACT, "fairness")
        ]


def _known(known: Known | None, place: tuple[str, str, float, str]) -> Value:
    return (known or {}).get(place, "")


def three(
    panel: str, series: str, x: float, known: tuple[float, ...]
) -> dict[tuple[str, str, float, str], float]:
    """Importance, outputs and fairness at a place, as many as are known."""
    return {(panel, series, x, MEASURES[n]): value for n, value in enumerate(known)}


def first(points: list[Point], panel: str, measure: str, x: Value) -> str:
    """Name the bounded scheme with the greatest value at a place."""
    there = find(points, panel=panel, measure=measure, x=x)
    rivals = [point for point in there if point.series != EXACT]
    return max(rivals, key=lambda point: float(point.measured)).series


def last(points: list[Point], panel: str, measure: str, x: Value) -> str:
    """Name the bounded scheme with the least value at a place."""
    there = find(points, panel=panel, measure=measure, x=x)
    rivals = [point for point in there if point.series != EXACT]
    return min(rivals, key=lambda point: float(point.measured)).series
