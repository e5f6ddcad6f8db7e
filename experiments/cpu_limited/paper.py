"""The experiments of the CPU-limited joins, in the order of the paper."""

from __future__ import annotations

from experiments.cpu_limited import chances, correlations
from experiments.part import Session

PARTS = [chances.measure, correlations.measure]

INTRO = """\
A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming Window Joins
Under CPU Limitations", University of Wisconsin-Madison, Technical Report 1542, 2005.
Every number comes from the operator (`shedjoin.local` under a throttle), its policies
and `shedjoin.lab.plan`. Written by `python -m experiments cpu_limited`.

*Reference*, in brackets, is what was computed from the paper's equations another way,
or, by value, what `shedjoin.lab.plan` gives with known rates. Arrivals are Poisson, in
micro-batches of one window; the first four do not count{quick}. The operator is told
the share of its work that fits into the budget, and the costs; rates it learns. Its
figures are not measured again here."""


def intro(session: Session) -> str:
    return INTRO.format(quick="; short runs (`--quick`)" if session.quick else "")
