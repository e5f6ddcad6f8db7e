"""The experiments of GrubJoin, in the order of the paper."""

from __future__ import annotations

from experiments.grubjoin import (
    adaptation,
    buffers,
    deviations,
    dropping,
    optimality,
    planning_time,
    rates,
    streams_joined,
)
from experiments.part import Session

PARTS = [
    optimality.measure,
    planning_time.measure,
    rates.measure,
    deviations.measure,
    streams_joined.measure,
    adaptation.measure,
    buffers.measure,
    dropping.measure,
]

INTRO = """\
B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way Windowed Stream
Join with Time Correlation-Aware CPU Load Shedding", Georgia Institute of Technology,
technical report. Every number comes from the operator (`shedjoin.local.multijoin` under
a throttle), the policies `Harvest` and `RandomDrop`, and `shedjoin.lab.plan`.
Written by `python -m experiments grubjoin`{quick}.

*Published* is what the text of the paper states; its figures are not available as
numbers. *Reference*, in brackets, is what the best harvest of independent plain
simulations gave, with all lags known: in figure 11 with basic windows of 0.5 s and over
the best drop rates, in figure 12 over equal drop rates.

Figures 7 to 10 plan harvests of joins drawn at random, in the paper's model: windows of
10 s, 100 to 500 rows per second, 500 joins (figure 7, seed 7) or 20 (seed 8). The
paper does not say how it draws selectivities and lags. Here selectivities are uniform
from 0 to 1, or from 1e-4 to 3e-3 in logarithms, and lags are flat, or normal with means
up to 5 s and deviations of 0.5 to 2 s. Times are of this code on one core, not of 2005;
figures 8 to 10 have normal lags and the lower selectivities.

Figures 11 to 15 join streams whose values follow a moving point: D = 1000, eta = 50 s,
eps = 1, windows of 20 s, lags of 0, 5, 15, 10 and 2.5 s (0 if aligned) and deviations
of 2, 2, 50, 50 and 50; those of the fourth and fifth stream are chosen here. Work is
counted in comparisons of a nested loop, not in seconds: the index of the operator is
off. The budget is the work of the whole join of three such streams at 100 rows per
second, from where on the paper sheds. *Results cost*: a result is as much work as 500
comparisons. The operator is told the share of its work that fits into the budget;
rates, lags and selectivities it learns, in micro-batches of a second.

Runs take 120 s of which the last 40 count, not 60 and 40 as in the paper: what was
learned while the windows filled must fade. Two runs, seeds 1 and 2; whole joins run for
40 s, seed 0. *Work over the budget* says how well the share is kept.

In figures 14 and 15 the join sets its throttle itself (`plan.throttle_share`, boost
1.2) on a simulated machine that does the work of the budget in a second; streams are
non-aligned. Micro-batches are of 0.5 s; rows that the machine has no time for wait in a
buffer of 10 rows for each stream, and are dropped if it is full. Planning is no part of
the work. In figure 14 rates of 100, 150 and 50 rows per second for 8 s each are
repeated three times, and the first time does not count. In figure 15 the throttle is
opened after 80 s, and the drops of the next 20 s count; buffers then keep their rows,
or are emptied.

Section 7 has no figure. The operator keeps all rows; the last table shows how much
memory it would save to drop basic windows that no direction selects, and what would
then be missing. Planned joins are those of figure 7 with selectivities of 1e-4 to 3e-3.
Measured are the streams of figure 11 at 200 rows per second, one run of 90 s of which
the last 60 count.

Not here: the video streams of section 6.3, which are not available."""


def intro(session: Session) -> str:
    return INTRO.format(quick="; short runs (`--quick`)" if session.quick else "")
