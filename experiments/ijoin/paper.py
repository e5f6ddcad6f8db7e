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
This page compares the library with a paper on dropping rows by the importance of
their results: D. Kulkarni, C. V. Ravishankar, "iJoin: Importance-aware Join
Approximation over Data Streams". Every number comes from the operator
(`shedjoin.local`, `shed_then_join`, `Budget(split=0.5)`, priorities computed again at
every shed) and the policies of `shedjoin.policies`. `python -m experiments ijoin`
writes this page.

*Published* is what the text of the paper states. Its figures are not available as
numbers. The *reference*, in brackets, comes from independent plain simulations of the
same rules, on other streams. Means over a few seeds differ by some per cent.

Unless stated otherwise, one row of each stream comes per time unit, for {steps} time
units, and figures are means of {seeds} seeds. The parameters are M = 10 rows in all,
w = 25, tau = 2, Delta = 3 and c = 1. A row matches up to an age below w. In
*drifting* data, 30 % of the rows have one of 5 hot values, which change every 25 time
units.

- IJOIN counts the matches of an instant before it sheds. The *plain* variant counts
  them after it sheds. Matches fade by exp(-0.1) per time unit. In the *global*
  variant, they do not fade.
- SIZE goes by the matches so far, with those of the instant.
- RAND draws anew at each shed.
- PROB goes by frequencies that fade. The reference counted all history.
- Fairness is Jain's index over the lifetimes of all rows. In Table 6, it is that of
  the rows that have been dropped or have expired.

Figure 1 is a flow diagram, and Table 1 and Table 5 are inputs. They contain nothing
to measure."""


def intro(session: Session) -> str:
    return INTRO.format(steps=steps(session), seeds=len(seeds(session)))
