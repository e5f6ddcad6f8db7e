"""The experiments of the CPU-limited joins, in the order of the paper."""

from __future__ import annotations

from experiments.cpu_limited import (
    baseline,
    chances,
    correlations,
    offline,
    sampled,
)
from experiments.part import Session

PARTS = [
    offline.measure,
    baseline.measure,
    correlations.measure,
    chances.measure,
    sampled.measure,
]

INTRO = """\
A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming Window Joins
Under CPU Limitations", University of Wisconsin-Madison, Technical Report 1542, 2005.
Every number comes from the operator (`shedjoin.local` under a throttle, or with a
sample), its policies, `shedjoin.lab.plan` and `shedjoin.lab.offline`. Written by
`python -m experiments cpu_limited`{quick}.

*Reference*, in brackets, is what independent plain simulations gave, what was computed
from the paper's equations another way, or, by value, what `shedjoin.lab.plan` gives
with known rates. Arrivals are Poisson, in micro-batches of one window; the first four
do not count. Policies are told the share of the work that fits into the budget, and the
costs; rates they learn. *PROB as a filter* knows the rates: the rows that it admits are
joined in full. The fractions of samples are computed from known rates. The paper
has no experiments of its own."""


def intro(session: Session) -> str:
    return INTRO.format(quick=" with `--quick`: short runs" if session.quick else "")
