"""The experiments of the CPU-limited joins, in the order of the paper."""

from __future__ import annotations

from experiments.cpu_limited import chances, correlations
from experiments.part import Session

PARTS = [chances.measure, correlations.measure]

INTRO = """\
This page compares the library with a paper on joins that have too little CPU time: A.
Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming Window Joins
Under CPU Limitations", University of Wisconsin-Madison, Technical Report 1542, 2005.
The figures of the paper are not measured again here.
`python -m experiments cpu_limited` writes this page.

The paper has three ways to save work. CF drops random rows. INP stores every row, but
looks for the matches of a random part only. PNI looks for the matches of every row,
but stores a random part only.

Every number comes from the join itself, called the *operator* (`shedjoin.local` under
a throttle), from its policies, or from `shedjoin.lab.plan`. The *reference*, in
brackets, was computed from the equations of the paper in another way. For policies by
value, it is what `shedjoin.lab.plan` gives with known rates.

Arrivals are Poisson. A micro-batch is one window long, and the first four
micro-batches do not count{quick}. The operator is given the share of its work that
fits into the budget, and the costs. It learns the rates."""


def intro(session: Session) -> str:
    return INTRO.format(quick="; short runs (`--quick`)" if session.quick else "")
