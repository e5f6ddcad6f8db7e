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
This page compares the library with a paper on joins that have too little CPU time: A.
Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming Window Joins
Under CPU Limitations", University of Wisconsin-Madison, Technical Report 1542, 2005.
The paper has no experiments of its own. `python -m experiments cpu_limited` writes
this page{quick}.

The paper has three ways to save work. CF drops random rows. INP stores every row, but
looks for the matches of a random part only. PNI looks for the matches of every row,
but stores a random part only. *PROB as a filter* drops rows before they are joined,
if their keys are rare in the other stream. It knows the rates of the keys.

Numbers come from the join itself, called the *operator* (`shedjoin.local` under a
throttle, or with a sample), from its policies, or from `shedjoin.lab`. The
*reference*, in brackets, was computed in another way: by an independent simulation, or
from the equations of the paper. For policies by value, it is what `shedjoin.lab.plan`
gives with known rates.

Arrivals are Poisson. A micro-batch is one window long, and the first four
micro-batches do not count. The operator is given the share of its work that
fits into the budget, and the costs. It learns the rates. The fractions of samples are
computed from known rates."""


def intro(session: Session) -> str:
    return INTRO.format(quick=" with `--quick`: short runs" if session.quick else "")
