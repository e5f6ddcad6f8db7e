"""The experiments of the memory-limited joins, in the order of the paper."""

from __future__ import annotations

from experiments.memory_limited import (
    aggregates,
    allocated,
    curves,
    examples,
    frequencies,
)
from experiments.part import Session

PARTS = [
    examples.measure,
    curves.measure,
    frequencies.measure,
    aggregates.measure,
    allocated.measure,
]

INTRO = """\
U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream Joins", VLDB 2004.
Every number comes from the operator (`shedjoin.local`, `probe_then_insert`), its
policies and `shedjoin.lab.plan`. Written by `python -m experiments memory_limited`.

*Published* is what the text of the paper states; its figures are not available as
numbers. *Reference*, in brackets, is what independent plain simulations of the same
rules gave on streams of their own.

As in the paper only the first window is kept and only its results count: r1 = 1,
r2 = 5, W1 = 500, n1 = 5, 20 buckets of age, 50 values. Memory is a part of r1 W1 rows.
Results count once the streams have settled{quick}. *True curve* and *true
frequencies* are policies of these experiments that are told the model; *learned* are
`policies.Age`, `Prob`, `PpsCluster` and `Uniform`, which find it out while they run.

Figures 8 and 9: at every second the average of an attribute over the results of the
last 500 seconds is estimated from the sample, by the weights that the operator gives
its results, and held against the exact one. The attribute belongs to S1, so that all
results of a row have the same value, or to S2. Its values are normal with mean mu and
standard deviation sigma (the paper's "variance sigma" is one: it calls sigma/mu the
coefficient of variation); sigma = mu in figure 8. *Relative error* is the paper's
measure, the error over the exact average. That comes close to 0 where sigma is not
small, so its mean rests on few instants; *error over mu* divides by the mean of the
attribute instead. Instants without a result in the sample have no estimate: they are
left out of the errors and counted by themselves. Runs of 4000 seconds, the first 1000
left out; 12 runs (figure 8) or 24 (figure 9, each with another order of the values).

By itself the operator samples both windows, so that every result has a chance; only
here it is kept to the first. Its clusters need no probabilities that are worked out
before: rows draw lots, and the memory is used up. UNIFORM's rows take 34 bytes for the
others' 32, as in the paper, so it gets 32/34 of their number.

Not here: figures 5 and 6 need a network trace that is not available. Section 5 also
divides memory by the errors of aggregates, which the paper does not measure;
`shedjoin.lab.plan.allocate_errors` does it."""


def intro(session: Session) -> str:
    return INTRO.format(quick="; short runs (`--quick`)" if session.quick else "")
