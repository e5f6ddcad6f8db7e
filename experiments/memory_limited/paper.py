"""The experiments of the memory-limited joins, in the order of the paper."""

from __future__ import annotations

from experiments.memory_limited import allocated, curves, examples, frequencies
from experiments.part import Session

PARTS = [examples.measure, curves.measure, frequencies.measure, allocated.measure]

INTRO = """\
U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream Joins", VLDB 2004.
Every number comes from the operator (`shedjoin.local`, `probe_then_insert`), its
policies and `shedjoin.plan`. Written by `python -m experiments memory_limited`.

*Published* is what the text of the paper states; its figures are not available as
numbers. *Reference*, in brackets, is what independent plain simulations of the same
rules gave on streams of their own.

As in the paper only the first window is kept and only its results count: r1 = 1,
r2 = 5, W1 = 500, n1 = 5, 20 buckets of age, 50 values. Memory is a part of r1 W1 rows.
Results count once the streams have settled{quick}. *True curve* and *true
frequencies* are policies of these experiments that are told the model; *learned* are
`policies.Age` and `policies.Prob`, which find it out while they run.

Not here: figures 5 and 6 need a network trace that is not available. Figures 8 and 9
(UNIFORM, EQ-CLUSTER, PPS-CLUSTER) need sampling, which the operator does not do yet."""


def intro(session: Session) -> str:
    return INTRO.format(quick="; short runs (`--quick`)" if session.quick else "")
