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
This page compares the library with a paper on joins of several streams that have too
little CPU time: B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive
Multi-Way Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
Institute of Technology, technical report. Every number comes from the operator
(`shedjoin.local.multijoin` under a throttle), the policies `Harvest` and
`RandomDrop`, and `shedjoin.lab.plan`. `python -m experiments grubjoin` writes this
page{quick}.

A *lag* is the time between two rows that match. A *harvest* is a choice of lags at
which rows are compared. *Published* is what the text of the paper states. Its figures
are not available as numbers. The *reference*, in brackets, comes from independent
plain simulations, and is that of the best harvest if all lags are known. In figure
11, it has basic windows of 0.5 s, and is the best over all drop rates. In figure 12,
it is the best over equal drop rates.

**Figures 7 to 10** plan harvests of joins drawn at random, in the model of the paper.
Windows are of 10 s, and there are 100 to 500 rows per second. Figure 7 has 500 joins
(seed 7), the others have 20 (seed 8). The paper does not say how it draws
selectivities and lags. Here, selectivities are uniform from 0 to 1, or log-uniform
from 1e-4 to 3e-3. Lags are flat, or normal with means up to 5 s and deviations of 0.5
to 2 s. Figures 8 to 10 have normal lags and the lower selectivities. Times are those
of this code on one core today, not of 2005.

**Figures 11 to 15** join streams whose values follow a moving point. The parameters
are D = 1000, eta = 50 s, eps = 1 and windows of 20 s. The five streams have lags of
0, 5, 15, 10 and 2.5 s (0 if aligned), and deviations of 2, 2, 50, 50 and 50. Those of
the fourth and fifth stream are chosen here.

- Work is counted in comparisons of a nested loop, not in seconds, so the index of the
  operator is off. *Results cost* means that a result is as much work as 500
  comparisons.
- The budget is the work of the whole join of three such streams at 100 rows per
  second. From this rate on, the paper sheds.
- The operator is given the share of its work that fits into the budget. It learns
  rates, lags and selectivities, in micro-batches of one second.
- Runs take 120 s, and the last 40 s count. In the paper, these are 60 s and 40 s. The
  runs are longer because what was learned while the windows filled must fade. There
  are two runs, with seeds 1 and 2. Whole joins run for 40 s, with seed 0.
- *Work over the budget* says how well the share is kept.

**Figures 14 and 15.** The join sets its throttle itself (`plan.throttle_share`, boost
1.2), on a simulated machine that does the work of the budget in a second. The streams
are not aligned, and micro-batches are of 0.5 s. Rows for which the machine has no
time wait in a buffer of 10 rows for each stream. If the buffer is full, they are
dropped. Planning is not counted as work. In figure 14, rates of 100, 150 and 50 rows
per second for 8 s each are repeated three times. The first time does not count. In
figure 15, the throttle is opened after 80 s, and the drops of the next 20 s count.
The buffers then either keep their rows or are emptied.

Section 7 has no figure. The operator keeps all rows; the last table shows how much
memory it would save to drop basic windows that no direction selects, and what would
then be missing. Planned joins are those of figure 7 with selectivities of 1e-4 to 3e-3.
Measured are the streams of figure 11 at 200 rows per second, one run of 90 s of which
the last 60 count.

Not here: the video streams of section 6.3, which are not available."""


def intro(session: Session) -> str:
    return INTRO.format(quick="; short runs (`--quick`)" if session.quick else "")
