"""The experiments of iJoin, in the order of the paper."""

from __future__ import annotations

from experiments.ijoin import (
    data,
    domain,
    literal,
    memory,
    recomputation,
    tables,
    thresholds,
    window,
)
from experiments.ijoin.sweeps import seeds, steps
from experiments.part import Session

PARTS = [
    tables.measure,
    memory.measure,
    window.measure,
    domain.measure,
    thresholds.measure,
    recomputation.measure,
    data.measure,
    literal.measure,
]

INTRO = """\
D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join Approximation over Data
Streams". Every number comes from the operator (`shedjoin.local`, `shed_then_join`,
`Budget(split=0.5)`, priorities anew at every shed) and the policies of
`shedjoin.policies`. Written by `python -m experiments ijoin`.

*Published* is what the text of the paper states; its figures are not available as
numbers. *Reference*, in brackets, is what independent plain simulations of the same
rules gave on streams of their own; means over a few seeds differ by some per cent.

Unless stated otherwise: one row of each stream per time unit, {steps} time units, mean
of {seeds} seeds, M = 10 rows in all, w = 25, tau = 2, Delta = 3, c = 1. A row matches
up to an age below w. *Drifting* data: 30 % of the rows have one of 5 hot values, which
change every 25 time units. IJOIN counts the matches of an instant before it sheds;
*plain* counts them after. Matches fade by exp(-0.1) per time unit; *global* ones do
not. SIZE is by matches so far and of the instant, RAND draws anew at each shed.
PROB goes by frequencies that
fade; the reference counted all history. Fairness is Jain's index over the lifetimes
of all rows; in Table 6, of those that have left.

Figure 1 is a flow diagram and Table 1 and Table 5 are inputs: nothing to measure."""


def intro(session: Session) -> str:
    return INTRO.format(steps=steps(session), seeds=len(seeds(session)))
