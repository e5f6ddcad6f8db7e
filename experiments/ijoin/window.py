"""Figure 3: performance against the length of the window."""

from __future__ import annotations

from experiments.charts import grid
from experiments.ijoin.runs import Setting
from experiments.ijoin.schemes import IJOIN, IJOIN_GLOBAL, IJOIN_PLAIN, SCHEMES, STYLES
from experiments.ijoin.streams import DRIFTING_BY_VALUE, UNIFORM
from experiments.ijoin.sweeps import LABELS, Known, Sweep, steps
from experiments.part import Claim, Part, Session, values, verdict

WINDOWS = (10, 15, 20, 25)
SIZE_FAIRNESS = (0.89, 0.71, 0.53, 0.41)
PLAIN = ((7316, 0.88), (7407, 0.84), (7441, 0.83), (7438, 0.83))
PUBLISHED: Known = {
    (UNIFORM, "SIZE", 10, "fairness"): 0.90,
    (UNIFORM, "SIZE", 25, "fairness"): 0.42,
}
REFERENCE: Known = {
    **{
        (UNIFORM, "SIZE", w, "fairness"): known
        for w, known in zip(WINDOWS, SIZE_FAIRNESS, strict=True)
    },
    **{
        (DRIFTING_BY_VALUE, IJOIN_PLAIN, w, name): known
        for w, both in zip(WINDOWS, PLAIN, strict=True)
        for name, known in zip(("importance", "fairness"), both, strict=True)
    },
    (UNIFORM, IJOIN_GLOBAL, 10, "importance"): 1630,
    (UNIFORM, IJOIN_GLOBAL, 25, "importance"): 1744,
    (UNIFORM, IJOIN_GLOBAL, 10, "fairness"): 0.92,
    (UNIFORM, IJOIN_GLOBAL, 25, "fairness"): 0.84,
}
CROSSES = {"SIZE": "SIZE, published"}


def measure(session: Session) -> list[Part]:
    windows = (WINDOWS[0], WINDOWS[-1]) if session.quick else WINDOWS
    settings: dict[float, Setting] = {
        w: Setting(window=w, steps=steps(session)) for w in windows
    }
    sweep = Sweep("figure 3", settings, published=PUBLISHED, reference=REFERENCE)
    points = sweep.measure(session)
    figure = grid(
        points,
        styles=STYLES,
        x="window (time units)",
        labels=LABELS,
        published=CROSSES,
    )
    part = Part(
        "figure_3_window",
        "Figure 3: windows of 10 to 25 time units",
        "window",
        points,
        figure=figure,
    )
    part.claims += [_improve(part), _fair(part), _size(part)]
    return [part]


def _improve(part: Part) -> Claim:
    gains = {}
    for name in SCHEMES:
        by_window = values(
            part.points, panel=UNIFORM, series=name, measure="importance"
        )
        gains[name] = by_window[-1] / by_window[0] - 1
    text = ", ".join(f"{name} {gain:+.0%}" for name, gain in gains.items())
    rest = max(gains["FIFO"], gains["RAND"], gains["SIZE"])
    return Claim(
        "Fig. 3",
        "only IJOIN and GREEDY improve in importance when the window grows",
        f"{UNIFORM}, shortest to longest window: {text}",
        verdict(gains["GREEDY"] > 0.02, gains[IJOIN_GLOBAL] > 0.02, rest <= 0.02),
        "FIFO holds five rows whatever the window, IJOIN gains a little. GREEDY loses: "
        "the longer the window, the longer the same few rows block the memory.",
    )


def _fair(part: Part) -> Claim:
    drifting = values(
        part.points, panel=DRIFTING_BY_VALUE, series=IJOIN, measure="fairness"
    )
    uniform = values(
        part.points, panel=UNIFORM, series=IJOIN_GLOBAL, measure="fairness"
    )
    return Claim(
        "Fig. 3",
        "IJOIN is 80 to 85 % fair for all windows",
        f"drifting, decayed matches: {max(drifting):.2f} to {min(drifting):.2f}; "
        f"uniform, global matches: {max(uniform):.2f} to {min(uniform):.2f}",
        verdict(
            min(drifting) > 0.77 and min(uniform) > 0.77,
            max(drifting) < 0.87 and max(uniform) < 0.87,
        ),
        "Near 80 % at the longest window; at the shortest one nearly all rows live as "
        "long as they can, and fairness is about 0.9.",
    )


def _size(part: Part) -> Claim:
    size = values(part.points, panel=UNIFORM, series="SIZE", measure="fairness")
    return Claim(
        "Fig. 3",
        "SIZE falls from 90 % to 42 % fair",
        ", ".join(f"{value:.2f}" for value in size),
        verdict(abs(size[0] - 0.90) < 0.04, abs(size[-1] - 0.42) < 0.04),
        "With uniform values and SIZE counting the matches of the instant too.",
    )
