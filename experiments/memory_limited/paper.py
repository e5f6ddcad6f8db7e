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
This page compares the library with a paper on joins that have too little memory: U.
Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream Joins", VLDB 2004.
Every number comes from the operator (`shedjoin.local`, `probe_then_insert`), its
policies and `shedjoin.lab.plan`. `python -m experiments memory_limited` writes this
page.

*Published* is what the text of the paper states. Its figures are not available as
numbers. The *reference*, in brackets, comes from independent plain simulations of the
same rules, on other streams.

As in the paper, only the first window is kept, and only its results count. The
parameters are r1 = 1, r2 = 5, W1 = 500, n1 = 5, 20 buckets of age and 50 values.
Memory is given as a part of r1 W1 rows. Results count once the streams have
settled{quick}. *True curve* and *true frequencies* are policies of these experiments
that are given the model. *Learned* are `policies.Age`, `Prob`, `PpsCluster` and
`Uniform`, which learn the model while they run.

**Figures 8 and 9.** At every second, the average of an attribute over the results of
the last 500 seconds is estimated from the sample, with the weights that the operator
gives its results. This estimate is compared with the exact average. If the attribute
belongs to S1, all results of a row have the same value. It can also belong to S2. Its
values are normal with mean mu and standard deviation sigma. (The paper calls sigma/mu
the coefficient of variation, so its "variance sigma" is a standard deviation.) In
figure 8, sigma = mu.

- *Relative error* is the measure of the paper: the error divided by the exact
  average. If sigma is not small, the exact average can come close to 0. The mean of
  the relative error then rests on few instants. *Error over mu* therefore divides by
  the mean of the attribute.
- If the sample has no result at an instant, there is no estimate. Such instants are
  left out of the errors, and are counted by themselves.
- Runs last 4000 seconds, and the first 1000 do not count. There are 12 runs for
  figure 8 and 24 for figure 9, each of these with another order of the values.

By itself, the operator samples both windows, so that every result has a chance. Only
here, it is limited to the first window. The paper computes the probabilities of its
clusters beforehand. The operator does not need this: rows draw lots, and the memory
is used up. Rows of UNIFORM take 34 bytes, and those of the others 32 bytes, as in the
paper. So UNIFORM gets 32/34 of their number.

Not here: figures 5 and 6 need a network trace that is not available. Section 5 also
divides memory by the errors of aggregates, which the paper does not measure;
`shedjoin.lab.plan.allocate_errors` does it."""


def intro(session: Session) -> str:
    return INTRO.format(quick="; short runs (`--quick`)" if session.quick else "")
