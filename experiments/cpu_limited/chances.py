"""Random shedding: the optima of the model, and what the operator yields with them."""

from __future__ import annotations

import numpy as np

from experiments.cpu_limited.runs import Setting, run
from experiments.part import Claim, Part, Point, Session, values, verdict
from shedjoin.errors import ParameterError
from shedjoin.lab import plan
from shedjoin.lab.plan import Costs, JoinLoad, RandomShedding
from shedjoin.policies import CoinFlip, InsertNoProbe, LoadPolicy, ProbeNoInsert

SETS: dict[str, tuple[JoinLoad, Costs]] = {
    "A": (JoinLoad(0.01, 100, 100, 10, 10), Costs(0.001, 0.0005)),
    "B": (JoinLoad(0.01, 100, 100, 10, 10), Costs(0.004, 0.0005)),
    "C": (JoinLoad(0.01, 200, 50, 10, 10), Costs(0.002, 0.0005)),
    "D": (JoinLoad(0.005, 100, 100, 20, 5), Costs(0.003, 0.001)),
    "E": (JoinLoad(0.1, 10, 10, 5, 5), Costs(0.02, 0.02)),
}
REFERENCE = {
    "CF": (1638.004975, 916.747262, 1285.714286, 588.359829, 37.717143),
    "INP": (1600, 400, 1000, 400, 30),
    "PNI": (1666.666667, 1111.111111, 1444.444444, 769.230769, 41.666667),
}
POLICIES: dict[str, LoadPolicy] = {
    "CF": CoinFlip(),
    "INP": InsertNoProbe(),
    "PNI": ProbeNoInsert(),
}
RESULTS, WORK = "results per second", "work per second"


def measure(session: Session) -> list[Part]:
    points = []
    for number, (name, (load, costs)) in enumerate(SETS.items()):
        for scheme, policy in POLICIES.items():
            best, told = optimum(scheme, load, costs), REFERENCE[scheme][number]
            points.append(Point(name, scheme, "model", RESULTS, best.results, "", told))
            windows = 12 if session.quick else 60
            share = min(1.0, 1.0 / load.work(costs))
            found = run(setting(load, costs), policy, share, windows=windows, seed=1)
            points.append(Point(name, scheme, "operator", RESULTS, found.results))
            points.append(Point(name, scheme, "operator", WORK, found.work))
    part = Part("section_3_3_random", "Random shedding (section 3.3)", "of", points)
    part.claims = [_order(part), _work(part)]
    return [part]


def optimum(scheme: str, load: JoinLoad, costs: Costs) -> RandomShedding:
    functions = {
        "CF": plan.coin_flip,
        "INP": plan.insert_no_probe,
        "PNI": plan.probe_no_insert,
    }
    try:
        return functions[scheme](1.0, load, costs=costs)
    except ParameterError:
        return RandomShedding(0, 0, 0, 0, 0)


def setting(load: JoinLoad, costs: Costs) -> Setting:
    """Values that are equally frequent, as many as the selectivity says."""
    count = round(1 / load.selectivity)
    left, right = (
        np.full(count, rate / count) for rate in (load.left_rate, load.right_rate)
    )
    return Setting(left, right, load.left_window, load.right_window, costs)


def _order(part: Part) -> Claim:
    held, told = [], []
    for name in SETS:
        found = [
            values(
                part.points, panel=name, series=scheme, x="operator", measure=RESULTS
            )[0]
            for scheme in ("INP", "CF", "PNI")
        ]
        held.append(found == sorted(found))
        told.append(f"{name} {' '.join(f'{one:.0f}' for one in found)}")
    return Claim(
        "Theorems 2 and 3",
        "PNI yields at least as many results as CF, and CF as INP",
        f"INP, CF, PNI by the operator: {'; '.join(told)}",
        verdict(*held),
        "The conclusions of the paper praise INP where PNI is meant.",
    )


def _work(part: Part) -> Claim:
    found = values(part.points, measure=WORK)
    return Claim(
        "Equation 2",
        "the work is that of the budget, 1",
        f"{min(found):.2f} to {max(found):.2f} by the operator",
        verdict(*(abs(one - 1) <= 0.1 for one in found)),
        "The operator learns its rates and goes by counts.",
    )
