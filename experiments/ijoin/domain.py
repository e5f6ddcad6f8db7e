"""Figure 4: performance against the number of values, at equal importance."""

from __future__ import annotations

from experiments.charts import EXACT, grid
from experiments.ijoin.runs import Setting
from experiments.ijoin.schemes import IJOIN, IJOIN_PLAIN, SCHEMES, STYLES
from experiments.ijoin.streams import EQUAL
from experiments.ijoin.sweeps import LABELS, Known, Sweep, last, steps
from experiments.part import Claim, Part, Session, values, verdict

DOMAINS = (10, 15, 20)
OUTPUTS = {
    IJOIN_PLAIN: (439, 297, 229),
    "FIFO": (443, 299, 225),
    "GREEDY": (78, 58, 44),
}
PUBLISHED: Known = {(EQUAL, "GREEDY", 20, "fairness"): 0.20}
REFERENCE: Known = {
    **{
        (EQUAL, name, domain, "outputs"): known
        for name, column in OUTPUTS.items()
        for domain, known in zip(DOMAINS, column, strict=True)
    },
    (EQUAL, "GREEDY", 20, "fairness"): 0.20,
}


def measure(session: Session) -> list[Part]:
    domains = DOMAINS[1:] if session.quick else DOMAINS
    settings: dict[float, Setting] = {
        n: Setting(domain=n, steps=steps(session)) for n in domains
    }
    sweep = Sweep("figure 4", settings, (EQUAL,), PUBLISHED, REFERENCE)
    points = sweep.measure(session)
    labels = {name: LABELS[name] for name in ("outputs", "fairness")}
    figure = grid(
        points,
        styles=STYLES,
        x="values in the domain",
        labels=labels,
        published={"GREEDY": "GREEDY, published"},
    )
    part = Part(
        "figure_4_domain",
        "Figure 4: domains of 10 to 20 values, equal importance",
        "domain",
        points,
        figure=figure,
    )
    part.claims += [_fall(part), _best(part), _greedy(part)]
    return [part]


def _fall(part: Part) -> Claim:
    domains = sorted({float(point.x) for point in part.points})
    exact = values(part.points, series=EXACT, measure="outputs")
    product = [size * domain for size, domain in zip(exact, domains, strict=True)]
    return Claim(
        "Fig. 4",
        "output size and importance drop linearly with the domain",
        f"EXACT {', '.join(f'{size:.0f}' for size in exact)}: output times domain is "
        f"{min(product):.0f} to {max(product):.0f}",
        verdict(exact == sorted(exact, reverse=True), False),
        "They drop, as one over the domain; three places look like a line.",
    )


def _best(part: Part) -> Claim:
    sizes = {
        name: values(part.points, series=name, measure="outputs") for name in SCHEMES
    }
    gain = [a / b for a, b in zip(sizes[IJOIN_PLAIN], sizes["FIFO"], strict=True)]
    ahead = [a / b for a, b in zip(sizes[IJOIN], sizes["FIFO"], strict=True)]
    size = [a / b for a, b in zip(sizes["SIZE"], sizes["FIFO"], strict=True)]
    fair = values(part.points, series=IJOIN, measure="fairness")
    return Claim(
        "Fig. 4",
        "IJOIN outperforms all other schemes and is 80 to 85 % fair",
        f"outputs by FIFO's: IJOIN plain {min(gain):.2f}-{max(gain):.2f}, "
        f"IJOIN {min(ahead):.2f}-{max(ahead):.2f}, "
        f"SIZE {min(size):.2f}-{max(size):.2f}; "
        f"fairness of IJOIN {min(fair):.2f}-{max(fair):.2f}",
        verdict(min(ahead) > max(1.0, *size), 0.79 < min(fair) < max(fair) < 0.86),
        "Seeing the matches of the instant before shedding gains a fifth over FIFO; "
        "the plain reading gains nothing, as on independent values no row is worth "
        "more than another. Fairness is higher.",
    )


def _greedy(part: Part) -> Claim:
    domains = {point.x for point in part.points}
    worst = [last(part.points, EQUAL, "outputs", n) == "GREEDY" for n in domains]
    fair = values(part.points, series="GREEDY", measure="fairness", x=DOMAINS[-1])[0]
    return Claim(
        "Fig. 4",
        "GREEDY is worst, and only 20 % fair with 20 values",
        f"worst at {sum(worst)} of {len(worst)} places; fairness {fair:.3f}",
        verdict(all(worst), abs(fair - 0.2) < 0.005),
        "Exact: 5 rows per stream, each kept for the 25 units of the window; lifetimes "
        "of all arrivals count.",
    )
