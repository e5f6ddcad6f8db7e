"""The experiments of star-streaming joins, in the order of the paper."""

from __future__ import annotations

from experiments.part import Session
from experiments.star_streaming import efficacy, example, online, prefilter

PARTS = [example.measure, efficacy.measure, prefilter.measure, online.measure]

INTRO = """\
This page compares the library with a paper on joins of two streams through a
relation: K. Towne, Q. Zhu, C. Zuzarte, W.-C. Hou, "Window Query Processing for
Joining Data Streams with Relations", CASCON 2007. Every number comes from
`shedjoin.lab.offline`. Those of figure 6 and of `Rand` come from the operator
(`shedjoin.local.join`). `python -m experiments star_streaming` writes this
page{quick}.

- OSSJ is `star_optimum`: the choice of rows that gives the greatest importance.
- SJA-S is `star_optimum` with `most="results"`.
- EXACT is `star_join`.
- RAND-S sheds a random row, which may be the row that comes. It is a simulation of
  this experiment, because no policy of the operator draws anew at each shed. The rows
  of `Rand` draw one lot for life. So some rows stay long under `Rand`, and with little
  memory it finds more, as figure 4 shows.

All of them shed before they join. None of them stores rows that match no row of the
relation.

*Published* is what the text of the paper states. Its figures are not available as
numbers. The *reference*, in brackets, comes from independent plain simulations on the
same streams. It is given where it does not depend on importances.

One row of each stream comes at an instant, and N = {rows}. Windows are of m = 10
instants, in figure 6 of 50. Values are from 0 to 99. The values of R follow Zipf's
law with exponent 1. Those of S and the pairs in F are uniform. The paper does not say
how many values there are, nor how important they are. Here, importances rise in even
steps, from 1 for the most frequent value of a stream to 10 for the rarest. Several
choices of rows may give equally many results, but different importance. SJA-S takes
the first one that it finds, as the algorithm of the paper does
(`prefilter="relation"`).

The heuristics of figure 6 are the policies `Dgl(alpha=50, beta=1)`, `DimpProb`,
`SimpProb` and `Simp`, with `discipline="shed_then_probe"`, `recompute=Successive()`
and half of the memory for each stream. Rows of the same instant count as partners."""


def intro(session: Session) -> str:
    return INTRO.format(
        quick="; short streams (`--quick`)" if session.quick else "",
        rows=efficacy.length(session),
    )
