"""Figure 6: what the heuristics find that know nothing of what is to come."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from experiments.charts import EXACT, grid
from experiments.part import Claim, Part, Point, Session, values, verdict
from experiments.star_streaming.efficacy import length
from experiments.star_streaming.heuristics import shed
from experiments.star_streaming.rand import random_shedding
from experiments.star_streaming.streams import drawn
from shedjoin.lab.offline import star_join
from shedjoin.policies import Dgl, DimpProb, Policy, Simp, SimpProb

MEMORY = (10, 20, 40, 60)
WINDOW, SEEDS = 50, 3
IMPORTANCE, BY_SEED = "importance", "importance, by stream"
RAND = "RAND-S"
HEURISTICS: dict[str, Policy] = {
    "DGL-S": Dgl(alpha=float(WINDOW), beta=1.0),
    "DIMPPROB-S": DimpProb(),
    "SIMPPROB-S": SimpProb(),
    "SIMP-S": Simp(),
}
STYLES = {
    "DGL-S": {"color": "#1f6f8b", "marker": "o"},
    "DIMPPROB-S": {"color": "#b99a3e", "marker": "D", "linestyle": "--"},
    "SIMPPROB-S": {"color": "#6a8f4e", "marker": "s", "linestyle": "-."},
    "SIMP-S": {"color": "#7a5c8e", "marker": "v"},
    RAND: {"color": "#c8553d", "marker": "^", "linestyle": ":"},
}
REFERENCE = {
    10: (5122, 4847, 4748, 4470, 2440),
    40: (15032, 14196, 14034, 13960, 10167),
}
"""Means of independent simulations, whose importances are others, in this order."""


def measure(session: Session) -> list[Part]:
    seeds = range(1, 2 if session.quick else SEEDS + 1)
    points: list[Point] = []
    for seed in session.each(seeds, "figure 6"):
        archive = drawn(seed, rows=length(session), window=WINDOW)
        exact = star_join(archive).importance
        for memory in MEMORY:
            found = {
                name: shed(archive, policy, memory, WINDOW).importance
                for name, policy in HEURISTICS.items()
            }
            found[RAND] = random_shedding(archive, memory, seed).importance
            found[EXACT] = exact
            points += [
                Point(f"seed {seed}", name, memory, BY_SEED, value)
                for name, value in found.items()
            ]
    means = _means(points)
    figure = Part(
        "figure_6_online", "Figure 6: what heuristics find, by memory", "M", means
    )
    figure.claims = [
        _best(points, means),
        _alike(means),
        _above(points, means),
        _random(points),
        _converge(means),
    ]
    figure.figure = grid(
        means,
        styles=STYLES,
        x="memory M (rows)",
        labels={IMPORTANCE: "importance,\nmean over streams"},
    )
    title = "Figure 6: importance, by stream"
    return [figure, Part("figure_6_seeds", title, "M", points)]


def _means(points: list[Point]) -> list[Point]:
    means = []
    for memory in MEMORY:
        for place, name in enumerate((*HEURISTICS, RAND, EXACT)):
            mean = float(np.mean(values(points, series=name, x=memory)))
            known = REFERENCE.get(memory, ())[place : place + 1]
            means.append(
                Point("", name, memory, IMPORTANCE, mean, "", *(known or ("",)))
            )
    return means


def _cells(points: list[Point]) -> list[dict[str, float]]:
    """What all found on one stream in one memory."""
    cells: dict[tuple[str, object], dict[str, float]] = {}
    for point in points:
        value = float(point.measured)
        cells.setdefault((point.panel, point.x), {})[point.series] = value
    return list(cells.values())


def _best(points: list[Point], means: list[Point]) -> Claim:
    cells = _cells(points)
    wins = sum(max(HEURISTICS, key=cell.__getitem__) == "DGL-S" for cell in cells)
    others = [name for name in HEURISTICS if name != "DGL-S"]
    ahead = [
        a > b
        for name in others
        for a, b in zip(_series(means, "DGL-S"), _series(means, name), strict=True)
    ]
    return Claim(
        "Figure 6",
        "DGL-S has the best performance",
        f"best in {wins} of {len(cells)} cases (stream and memory), and on average "
        f"over streams in {sum(ahead)} of {len(ahead)} comparisons",
        verdict(all(ahead)),
        "Independent simulations: 11 of 12.",
    )


def _alike(means: list[Point]) -> Claim:
    ratio = np.divide(_series(means, "DIMPPROB-S"), _series(means, "SIMPPROB-S"))
    return Claim(
        "Figure 6",
        "DIMPPROB-S and SIMPPROB-S have a very similar performance",
        f"the one has {ratio.min():.3f} to {ratio.max():.3f} times the importance of "
        "the other",
        verdict(bool((np.abs(ratio - 1) < 0.1).all())),
    )


def _above(points: list[Point], means: list[Point]) -> Claim:
    cells = _cells(points)
    both = ("DIMPPROB-S", "SIMPPROB-S")
    below = sum(cell["SIMP-S"] > max(cell[name] for name in both) for cell in cells)
    on_average = [
        float(np.mean(_series(means, name))) > np.mean(_series(means, "SIMP-S"))
        for name in both
    ]
    return Claim(
        "Figure 6",
        "they generally outperform SIMP-S",
        f"SIMP-S beats both in {below} of {len(cells)} cases",
        verdict(all(on_average), below == 0),
        "Independent simulations: in 5 of 12.",
    )


def _random(points: list[Point]) -> Claim:
    factors = [
        cell[name] / cell[RAND] for cell in _cells(points) for name in HEURISTICS
    ]
    return Claim(
        "Figure 6",
        "all of them significantly outperform RAND-S",
        f"{min(factors):.2f} to {max(factors):.2f} times its importance",
        verdict(min(factors) > 1),
    )


def _converge(means: list[Point]) -> Claim:
    exact = _series(means, EXACT)[0]
    shares = {
        name: [each / exact for each in _series(means, name)]
        for name in (*HEURISTICS, RAND)
    }
    return Claim(
        "Figure 6",
        "as memory increases all converge upon EXACT",
        "; ".join(
            f"{name}: {', '.join(f'{share:.2f}' for share in each)}"
            for name, each in shares.items()
        ),
        verdict(*(a < b for each in shares.values() for a, b in pairwise(each))),
    )


def _series(points: list[Point], name: str) -> list[float]:
    return values(points, series=name, measure=IMPORTANCE)
