"""The experiments of star-streaming joins, in the order of the paper."""

from __future__ import annotations

from experiments.part import Session
from experiments.star_streaming import efficacy, example, online, prefilter

PARTS = [example.measure, efficacy.measure, prefilter.measure, online.measure]

INTRO = """\
K. Towne, Q. Zhu, C. Zuzarte, W.-C. Hou, "Window Query Processing for Joining Data
Streams with Relations", CASCON 2007. Numbers come from `shedjoin.lab.offline`, those of
the heuristics of figure 6 and of `Rand` from the operator (`shedjoin.local.join`), and
those of RAND-S from a simulation of these experiments. Written by
`python -m experiments star_streaming`{quick}.

OSSJ is `star_optimum`, SJA-S the same with `most="results"`, EXACT is `star_join`;
RAND-S sheds a row at random, which may be the one that comes. No policy of the operator
draws anew at each shed: the rows of `Rand` draw one lot for life. So some rows stay
long under it, and it finds more with little memory, as figure 4 shows. All shed before
they join, and none lets rows in that match no row of the relation.

*Published* is what the text of the paper states; its figures are not available as
numbers. *Reference*, in brackets, is what independent plain simulations gave on the
same streams, where it does not depend on importances.

One row of each stream comes at an instant, N = {rows}, and windows are of m = 10
instants, in figure 6 of 50. Values are from 0 to 99: those of R follow Zipf's law with
exponent 1, those of S and the pairs in F are uniform. The paper does not say how many
values there are, nor what importances; here they rise from 1 for the most frequent
value of a stream to 10 for the rarest, in even steps. Importances of equally large
results differ: SJA-S takes the first that it finds, as the paper's algorithm does
(`prefilter="relation"`).

The heuristics of figure 6 are the policies `Dgl(alpha=50, beta=1)`, `DimpProb`,
`SimpProb` and `Simp`, with `discipline="shed_then_probe"`, `recompute=Successive()` and
half of the memory for each stream. Rows of the same instant count as partners."""


def intro(session: Session) -> str:
    return INTRO.format(
        quick="; short streams (`--quick`)" if session.quick else "",
        rows=efficacy.length(session),
    )
