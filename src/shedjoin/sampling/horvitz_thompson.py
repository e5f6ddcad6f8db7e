"""Variance of totals and ratios over sampled clusters.

A row i of a cluster is in the sample with probability p_i and carries the weight
w_i = 1 / p_i. Clusters are included independently of each other. Within one cluster,
inclusion is nested: when the cluster is dropped, all its later rows are missing. So the
weights of a cluster only grow. A row with a greater weight is in the sample only if all
rows of its cluster with smaller weights are. So two rows of a cluster are both in the
sample with probability min(p_i, p_j) = 1 / max(w_i, w_j).

*Total.* ``T = sum(w y)`` is unbiased [1]_. The unbiased estimator of its variance is,
for each cluster and over all pairs of its rows in the sample,

    sum_ij (w_i w_j - max(w_i, w_j)) y_i y_j.

The maximum is not a product of factors, so it cannot be added up over a stream. The
geometric mean is such a product, and ``sqrt(w_i w_j) <= max(w_i, w_j)``. With
A = sum(w y) and B = sum(sqrt(w) y) of a cluster, the estimate that is used is

    v = sum_ij (w_i w_j - sqrt(w_i w_j)) y_i y_j = A^2 - B^2.

If all values have one sign, v is at least the unbiased estimate, so it tends to be too
large. The more the weights grow within one cluster and window, the larger is v. If the
weights of a cluster are equal, both estimates are (w^2 - w) sum(y)^2, whatever the
signs. If weights grow and signs differ within one cluster, v may be too small.

*Ratio.* ``R = sum(w y) / sum(w x)`` has, to first order, the variance of the total of
the residuals y - R x, over ``sum(w x)^2`` [2]_. That is a polynomial in R whose
coefficients can be added up before R is known:

    v(R) = v_yy - 2 R v_yx + R^2 v_xx,    v_yx = A_y A_x - B_y B_x.

*Degrees of freedom.* The variance is a sum over clusters. How certain it is depends on
the clusters with the greatest terms. Satterthwaite's approximation [3]_, with one
degree of freedom for each cluster, gives ``sum(v)^2 / sum(v^2)``. This is the number of
clusters if all clusters have the same variance, and 1 if a single cluster has all the
variance. ``v^2`` is again a polynomial in R.

The functions below use operators only. So they work for floats, for arrays with one
element per cluster, and for columns of an engine.

References
----------
.. [1] D. G. Horvitz, D. J. Thompson, "A Generalization of Sampling Without Replacement
   from a Finite Universe", JASA 47, 1952.
.. [2] C.-E. Sarndal, B. Swensson, J. Wretman, "Model Assisted Survey Sampling",
   Springer 1992, section 5.6.
.. [3] F. E. Satterthwaite, "An Approximate Distribution of Estimates of Variance
   Components", Biometrics Bulletin 2, 1946.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

TRUSTED_FROM = 20.0
"""Least number of effective clusters with which an interval is trusted.

With fewer effective clusters, intervals of skewed clusters contain the true value less
often than their level says. The limit also bounds the share of one cluster in the
variance: 1 / sqrt(20) is 22 %.
"""


class Number(Protocol):
    """Any type with addition, subtraction and multiplication."""

    def __add__(self, other: Any, /) -> Self: ...  # noqa: ANN401
    def __sub__(self, other: Any, /) -> Self: ...  # noqa: ANN401
    def __mul__(self, other: Any, /) -> Self: ...  # noqa: ANN401


N = TypeVar("N", bound=Number)


class ClusterSums(NamedTuple, Generic[N]):
    """Sums of one quantity y over the rows of a cluster."""

    weighted: N
    """A = sum(w y)"""
    rooted: N
    """B = sum(sqrt(w) y)"""


def covariance(y: ClusterSums[N], x: ClusterSums[N]) -> N:
    """Covariance that a cluster adds to two totals; variance if both are the same."""
    return y.weighted * x.weighted - y.rooted * x.rooted


def contribution(y: ClusterSums[N], x: ClusterSums[N] | None = None) -> list[N]:
    """Variance that a cluster adds, as coefficients of the powers of the ratio R.

    Without a denominator ``x``, the variance is a constant.
    """
    if x is None:
        return [covariance(y, y)]
    return [covariance(y, y), covariance(y, x) * -2.0, covariance(x, x)]


def squared(coefficients: Sequence[N]) -> list[N]:
    """Coefficients of the square of a polynomial.

    Examples
    --------
    >>> squared([1.0, 2.0, 3.0])
    [1.0, 4.0, 10.0, 12.0, 9.0]
    """
    places = range(len(coefficients))
    products = {
        (i, j): coefficients[i] * coefficients[j] for i in places for j in places
    }
    found: list[N] = []
    for power in range(2 * len(coefficients) - 1):
        first, *rest = (term for (i, j), term in products.items() if i + j == power)
        for term in rest:
            first = first + term
        found.append(first)
    return found


def evaluate(coefficients: Sequence[N], at: N) -> N:
    """Value of a polynomial, by Horner's rule.

    Examples
    --------
    >>> evaluate([1.0, 2.0, 3.0], 10.0)
    321.0
    """
    *rest, value = coefficients
    for coefficient in reversed(rest):
        value = value * at + coefficient
    return value
