"""Policies of Ayad et al. (2005) for joins that have too little CPU.

Each policy chooses which work the join does while a throttle is active. The throttle
has the work of a stored row (``update``, C_u in the paper) and of a result (``match``,
C_p in the paper).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from shedjoin.policies.base import Chances, LoadPolicy
from shedjoin.policies.residents import Residents
from shedjoin.spec.throttle import Throttle
from shedjoin.types import BoolArray, FloatArray

if TYPE_CHECKING:  # plans need scipy, which most joins do without
    from shedjoin.plan.join_load import JoinLoad

_Scheme = Literal["coin_flip", "insert_no_probe", "probe_no_insert"]


@dataclass(frozen=True, slots=True)
class CoinFlip(LoadPolicy):
    """Drop random arrivals; join and store the others.

    Notes
    -----
    *Source.* CF, section 3.3 of [1]_. ``plan.coin_flip`` computes the best chances.

    *Symbols.* x_L and x_R are the chances of the two streams.

    *Departures.* Rates are learned while the join runs, and chances are computed again
    for every block of arrivals. When the throttle closes, residents that would not be
    stored now are dropped at once. In the paper, they stay until they expire.

    *Guarantee.* Assume that any two rows match with the same probability. Then this
    policy has the most expected results of all policies that drop every arrival of a
    stream with the same probability. It never has more than ``ProbeNoInsert``.

    *Cost.* O(1) per arrival.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> from shedjoin import plan
    >>> load = plan.JoinLoad(0.01, 100, 100, left_window=10, right_window=10)
    >>> costs = plan.Costs(update=0.004, match=0.0005)
    >>> round(plan.coin_flip(1, load, costs=costs).left, 6)
    0.677033
    """

    def chances(self, rows: Residents, among: Residents, throttle: Throttle) -> Chances:
        """Probability that rows take part, by their stream."""
        chance = _by_stream("coin_flip", rows, among, throttle)
        return Chances(admit=chance, store=chance)


@dataclass(frozen=True, slots=True)
class InsertNoProbe(LoadPolicy):
    """Store every arrival, but look for matches of a random part only.

    Notes
    -----
    *Source.* INP, section 3.3 of [1]_. ``plan.insert_no_probe`` computes the best
    chances.

    *Symbols.* x_L and x_R are the chances of the two streams, which are the same here.

    *Departures.* If storing alone takes more work than the throttle allows, no arrival
    looks for matches. The work is then still above the throttle. The paper does not
    mention this case.

    *Guarantee.* Never more results than ``CoinFlip``.

    *Cost.* O(1) per arrival.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> from shedjoin import plan
    >>> load = plan.JoinLoad(0.01, 100, 100, left_window=10, right_window=10)
    >>> costs = plan.Costs(update=0.004, match=0.0005)
    >>> round(plan.insert_no_probe(1, load, costs=costs).left, 6)
    0.2
    """

    def chances(self, rows: Residents, among: Residents, throttle: Throttle) -> Chances:
        """Probability that rows probe, by their stream."""
        return Chances(probe=_by_stream("insert_no_probe", rows, among, throttle))


@dataclass(frozen=True, slots=True)
class ProbeNoInsert(LoadPolicy):
    """Look for matches of every arrival, but store a random part only.

    Notes
    -----
    *Source.* PNI, section 3.3 of [1]_. ``plan.probe_no_insert`` computes the best
    chances.

    *Symbols.* x_L and x_R are the chances of the two streams.

    *Departures.* As for ``CoinFlip``.

    *Guarantee.* By Theorem 3, this policy has the most expected results of the three
    random schemes. The chance of the stream whose rows have more results each is raised
    first.

    *Cost.* O(1) per arrival.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> from shedjoin import plan
    >>> load = plan.JoinLoad(0.01, 200, 50, left_window=10, right_window=10)
    >>> best = plan.probe_no_insert(1, load, costs=plan.Costs(0.002, 0.0005))
    >>> round(best.left, 6), round(best.right, 6)
    (0.444444, 1.0)
    """

    def chances(self, rows: Residents, among: Residents, throttle: Throttle) -> Chances:
        """Probability that rows are stored, by their stream."""
        return Chances(store=_by_stream("probe_no_insert", rows, among, throttle))


@dataclass(frozen=True, slots=True)
class OnlineMaxSubset(LoadPolicy):
    """Join all rows of the keys with most results per work; drop all other rows.

    Notes
    -----
    *Source.* Online Max-Subset, section 3.2.2 of [1]_. ``plan.online_max_subset`` is
    the same for known rates.

    *Symbols.* P(v), the results per work of key v, rises with the matches per arrival
    of v. Keys are ordered by these matches. C(v), the work of key v, is divided evenly
    among the arrivals of v.

    *Departures.* Rates come from learned counts of keys. Keys with equal rates are
    treated as one key. If the remaining work suffices only for some rows of a key, all
    of its rows are joined, and ``ValuePni`` chooses those that are stored. The work of
    every block of arrivals is divided separately. When the throttle closes, residents
    are dropped as by ``CoinFlip``.

    *Guarantee.* None, since it is a heuristic. Its expected results are never more than
    those of ``ValuePni``.

    *Cost.* O(log b) per arrival for blocks of b arrivals.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> from shedjoin import plan
    >>> load = plan.ValueLoad([6, 3, 1], [1, 3, 6], left_window=5, right_window=5)
    >>> costs = plan.Costs(update=0.05, match=0.01)
    >>> plan.online_max_subset(0.8, load, costs=costs).admitted.tolist()
    [False, True, False]
    """

    def chances(self, rows: Residents, among: Residents, throttle: Throttle) -> Chances:
        """Admit all rows of the best keys, but store only a part for the last key."""
        value = among.matches_per_arrival()
        work = throttle.update + throttle.match * value
        margin = _margin(value, work, throttle.share * work.sum())
        found = value if rows is among else rows.matches_per_arrival()
        at = value == margin.bar
        part = _stored(rows, among, throttle, among_work=margin.rest, select=at)
        store = np.where(found > margin.bar, 1.0, np.where(found < margin.bar, 0, part))
        return Chances(admit=(found >= margin.bar).astype(float), store=store)


@dataclass(frozen=True, slots=True)
class ValuePni(LoadPolicy):
    """Look for matches of every arrival; store arrivals with most results per work.

    This is the policy of a CPU budget, unless ``keep=`` names another one.

    Parameters
    ----------
    valued : bool, default False
        Whether the importance of results counts instead of their number.

    Notes
    -----
    *Source.* PNI of [1]_, with a chance for each key and stream instead of one for each
    stream. ``plan.value_probe_no_insert`` is the same for known rates.

    *Symbols.* The yield of a row is f_R(v) lambda_R T_L: the number of rows with its
    key that come on the other stream during its window. Here it is
    ``expected_matches``.

    *Departures.* The paper does not consider this scheme. It considers PROB as a filter
    that drops arrivals before they look for matches. Here yields are learned, by key
    and age. The work of every block of arrivals is divided separately. The rows with
    the highest yield per work are stored until the work is used up. If the last rows
    have equal yields, lots decide which of them are stored. When the throttle closes,
    residents are dropped as by ``CoinFlip``.

    *Guarantee.* If yields are known and blocks are large, the expected results are the
    optimum of the linear program over all chances.

    *Cost.* O(log b) per arrival for blocks of b arrivals.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> from shedjoin import plan
    >>> load = plan.ValueLoad([6, 3, 1], [1, 3, 6], left_window=5, right_window=5)
    >>> costs = plan.Costs(update=0.05, match=0.01)
    >>> best = plan.value_probe_no_insert(0.8, load, costs=costs)
    >>> best.left.round(6).tolist(), best.right.round(6).tolist()
    ([0.0, 0.166667, 1.0], [1.0, 0.0, 0.0])
    """

    valued: bool = False

    def chances(self, rows: Residents, among: Residents, throttle: Throttle) -> Chances:
        """Probability that each row is stored, by its yield per work."""
        return Chances(store=_stored(rows, among, throttle, valued=self.valued))


class _Margin(NamedTuple):
    """The choice of the best rows for a limited amount of work.

    All rows with a value above ``bar`` are chosen. If the value of a row equals
    ``bar``, it is chosen with probability ``part``. ``rest`` is the work that remains
    for these rows.
    """

    bar: float
    part: float
    rest: float


def _margin(value: FloatArray, work: FloatArray, limit: float) -> _Margin:
    """Choose rows by value, highest first, until their work reaches the limit.

    >>> _margin(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0]), 1.5)
    _Margin(bar=2.0, part=0.5, rest=0.5)
    """
    order = np.argsort(-value, kind="stable")
    last = int(np.searchsorted(np.cumsum(work[order]), limit))
    bar = float(value[order[min(last, order.size - 1)]])
    rest = limit - float(work[value > bar].sum())
    needed = float(work[value == bar].sum())
    part = min(1.0, max(0.0, rest / needed)) if needed > 0 else 1.0
    return _Margin(bar, part, rest)


def _stored(
    rows: Residents,
    among: Residents,
    throttle: Throttle,
    *,
    valued: bool = False,
    among_work: float | None = None,
    select: BoolArray | None = None,
) -> FloatArray:
    """Probabilities that rows are stored, by their yield per work.

    The bar is computed from ``among``, or from those of its rows that ``select`` marks.
    """
    ratio, work = _ratio(among, throttle, valued=valued)
    # ``among`` are the arrivals of a block. ``rows`` are the same, or residents.
    mine = ratio if rows is among else _ratio(rows, throttle, valued=valued)[0]
    if select is not None:
        ratio, work = ratio[select], work[select]
    limit = throttle.share * float(work.sum()) if among_work is None else among_work
    margin = _margin(ratio, work, limit)
    return np.where(mine > margin.bar, 1.0, np.where(mine < margin.bar, 0, margin.part))


def _ratio(
    rows: Residents, throttle: Throttle, *, valued: bool
) -> tuple[FloatArray, FloatArray]:
    """Yield per work of each row, and the work of each row."""
    matches = rows.expected_matches()
    work = throttle.update + throttle.match * matches
    gain = matches * rows.mean_worth() if valued else matches
    ratio = np.divide(gain, work, out=np.zeros_like(work), where=work > 0)
    return ratio, work


def _by_stream(
    scheme: _Scheme, rows: Residents, among: Residents, throttle: Throttle
) -> FloatArray:
    """Probabilities of rows by their stream, from the rates of both streams."""
    from shedjoin import plan

    load = _join_load(among)
    costs = plan.Costs(throttle.update, throttle.match)
    work = throttle.share * load.work(costs)
    if scheme == "insert_no_probe":  # stores every row: cannot do less work
        work = max(work, (load.left_rate + load.right_rate) * costs.update)
    best = getattr(plan, scheme)(work, load, costs=costs)
    return np.array([best.left, best.right])[rows.stream]


def _join_load(among: Residents) -> JoinLoad:
    """Learned rates, and the selectivity that agrees with the expected matches."""
    from shedjoin.plan.join_load import JoinLoad

    left, right = (among.models.rate(stream) for stream in range(2))
    windows = [keep * 1e-6 for keep in among.keep_us]
    matches = among.expected_matches()
    count = np.maximum(np.bincount(among.stream, minlength=2), 1)
    mean = np.bincount(among.stream, matches, minlength=2) / count
    pairs = left * right * sum(windows)
    results = left * mean[0] + right * mean[1]
    selectivity = min(1.0, results / pairs) if pairs > 0 else 0.0
    return JoinLoad(float(selectivity), left, right, *windows)
