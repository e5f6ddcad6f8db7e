"""Figure 5: the unproductivity threshold, and the penalty beside it."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.charts import grid
from experiments.ijoin.runs import Setting
from experiments.ijoin.schemes import IJOIN, IJOIN_PLAIN, SCHEMES, STYLES, ijoin
from experiments.ijoin.streams import DRIFTING_BY_VALUE
from experiments.ijoin.sweeps import LABELS, PANELS, Known, Sweep, first, steps
from experiments.part import Claim, Part, Session, find, values, verdict
from shedjoin.policies import Policy

PATIENCE = (2, 3, 4, 5)
PENALTIES = (0.1, 1.0, 10.0)
BY_PATIENCE = (7451, 7438, 7454, 7272)
BY_PENALTY = ((7732, 0.60), (7438, 0.83), (6796, 0.95))
D = DRIFTING_BY_VALUE
REFERENCE: Known = {
    **{
        (D, IJOIN_PLAIN, delta, "importance"): known
        for delta, known in zip(PATIENCE, BY_PATIENCE, strict=True)
    },
    (D, IJOIN_PLAIN, 2, "fairness"): 0.83,
    (D, IJOIN_PLAIN, 5, "fairness"): 0.90,
}
KNOB: Known = {
    (D, IJOIN_PLAIN, c, name): known
    for c, both in zip(PENALTIES, BY_PENALTY, strict=True)
    for name, known in zip(("importance", "fairness"), both, strict=True)
}


def measure(session: Session) -> list[Part]:
    return [_patience(session), _penalty(session)]


def _patience(session: Session) -> Part:
    places = (PATIENCE[0], PATIENCE[-1]) if session.quick else PATIENCE
    sweep = Sweep(
        "figure 5",
        {x: Setting(steps=steps(session)) for x in places},
        reference=REFERENCE,
    )
    points = sweep.measure(session, _patient, exact=False)
    figure = grid(
        points,
        styles=STYLES,
        x="unproductivity threshold (time units)",
        labels=LABELS,
    )
    title = "Figure 5: unproductivity thresholds of 2 to 5 time units"
    part = Part("figure_5_threshold", title, "Delta", points, figure=figure)
    part.claims += [_drop(part), _best(part)]
    return part


def _patient(delta: float) -> Mapping[str, Policy]:
    here = {
        IJOIN_PLAIN: ijoin(now=False, patience=int(delta)),
        IJOIN: ijoin(patience=int(delta)),
    }
    return {name: p for name, p in SCHEMES.items() if "IJOIN" not in name} | here


def _drop(part: Part) -> Claim:
    found = {
        panel: values(part.points, panel=panel, series=IJOIN, measure="importance")
        for panel in PANELS
    }
    changes = [column[-1] / column[0] - 1 for column in found.values()]
    fair = values(part.points, panel=D, series=IJOIN, measure="fairness")
    return Claim(
        "Fig. 5",
        "IJOIN's importance drops when the threshold rises from 2 to 5; others do not "
        "change",
        "; ".join(
            f"{panel}: " + ", ".join(f"{value:.0f}" for value in column)
            for panel, column in found.items()
        )
        + f"; fairness (drifting) {fair[0]:.2f} to {fair[-1]:.2f}",
        verdict(max(changes) < 0, max(changes) < -0.02),
        "From 2 to 5 it loses a per cent or two, within the noise. Fairness rises.",
    )


def _best(part: Part) -> Claim:
    places = sorted({point.x for point in part.points})
    names = {
        p: {first(part.points, p, "importance", x) for x in places} for p in PANELS
    }
    won = ["IJOIN" in "".join(some) and len(some) == 1 for some in names.values()]
    return Claim(
        "Fig. 5",
        "IJOIN is better than all other schemes at every threshold",
        "; ".join(
            f"{p}: first is {', '.join(sorted(some))}" for p, some in names.items()
        ),
        verdict(*won),
        "As in figure 2.",
    )


def _penalty(session: Session) -> Part:
    sweep = Sweep(
        "penalty",
        {c: Setting(steps=steps(session)) for c in PENALTIES},
        reference=KNOB,
    )
    points = sweep.measure(session, _fined, exact=False)
    labels = {name: LABELS[name] for name in ("importance", "fairness")}
    figure = grid(points, styles=STYLES, x="penalty c", labels=labels)
    for axes in figure.axes:
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xticks(PENALTIES, [f"{c:g}" for c in PENALTIES])
    part = Part(
        "section_5_4_penalty", "Section 5.4: the penalty", "c", points, figure=figure
    )
    low, high = (
        [
            float(find(points, panel=D, series=IJOIN, x=c, measure=name)[0].measured)
            for name in ("importance", "fairness")
        ]
        for c in (PENALTIES[0], PENALTIES[-1])
    )
    claim = Claim(
        "section 5.4",
        "with a coarse threshold, apply a higher penalty",
        f"drifting, c=0.1: importance {low[0]:.0f}, fairness {low[1]:.2f}; c=10: "
        f"{high[0]:.0f}, {high[1]:.2f}",
        verdict(high[0] > low[0]),
        "The penalty trades importance for fairness; it does not raise both.",
    )
    part.claims.append(claim)
    return part


def _fined(c: float) -> Mapping[str, Policy]:
    return {IJOIN_PLAIN: ijoin(now=False, penalty=c), IJOIN: ijoin(penalty=c)}
