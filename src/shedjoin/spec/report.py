"""Counts that a shard reports for a micro-batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from operator import add
from typing import Literal

from shedjoin.spec.recall import ESTIMATED, STATES, Recall, recall_of, state_code


@dataclass(frozen=True, slots=True)
class Report:
    """Counts of one shard and micro-batch; they add up over shards.

    ``seen``, ``late``, ``stored``, ``expired``, ``resident`` and ``shed`` have one
    count for each stream.

    ``seen`` is the sum of ``late`` rows, rows that were shed on arrival, and ``stored``
    rows. ``stored`` rows are residents until they expire or are shed. ``resident`` rows
    are those that a later arrival could still match. ``shed`` counts all rows of a
    stream that were shed. The following counts give the reasons, over all streams.
    ``unadmitted`` and ``unretained`` rows were dropped on arrival because the policy
    did not admit or retain them. ``refused`` rows were worth less than all residents.
    ``evicted`` rows were displaced by others. ``outlived`` rows were displaced when
    only rows out of order could still match them. ``spent`` rows were in a uniform
    sample that contains none of their later matches.

    ``importance`` is the total importance of the results. Lifetimes are in seconds,
    summed over all rows that left.

    All shards together may hold ``budget`` rows or bytes at the end of the micro-batch.

    ``measured`` results were emitted. ``missed`` is an estimate of how many results of
    the exact join are missing, and ``missed_variance`` is its variance. The same counts
    exist for importance. ``recall_code`` is the state of the recall: see
    ``recall_state``. Fields that begin with ``so_far`` are sums over all micro-batches
    whose recall was known. An exact join would now hold ``needed_rows`` rows. They
    would take ``needed_bytes``, counted as in the ``state_bytes`` of an exact join. The
    fields from ``expected_quarter`` to ``expected_fourfold`` are the results to expect
    with other budgets, out of ``expected_of`` results: see ``recall_at``.

    A join by predicates with a CPU budget compared arrivals with ``looked`` residents.
    Without a throttle, it would have compared them with ``looked_exact`` residents.
    That number is estimated from the arrivals that are compared with all residents.
    Opening a basic window counts as 16 residents.

    In a sample, ``weight`` is the sum of the results' weights: an estimate of the
    number of all results. In a uniform sample, ``met`` counts the matches of residents,
    emitted or not. ``checks`` counts tests of the 95 % interval of this estimate on the
    monitored keys, whose matches are all counted. In ``checks_held`` of these tests,
    the interval contained the true number. ``variance_*`` are the predicted variances
    of this estimate by three schemes, up to a common factor. ``keep=Sample()`` takes
    the scheme with the least variance. With ``Sample(of="bid")``, they are the
    variances of the sum of the bids.

    In a join through a relation, ``changes`` counts the changes that came.
    ``changes_late`` counts the changes that were too late for some rows. ``relation``
    counts the relation rows that have not ended.

    The time of an ``ahead`` row is later, by more than the window, than the time that
    all streams have reached. Under a budget, it is compared with the clock of shedding,
    which may be a little later. Rows that are ahead are joined as usual, but their time
    may be wrong, or the other stream may be silent. ``longest_chain`` is the length of
    the longest list of residents that a look-up went through: the number of residents
    of the most frequent key, or more if keys collide. Copies of state on the node were
    used (``copy_hits``), had to be made from the state store (``copy_misses``), or
    failed during the work (``copy_fallbacks``).
    """

    seen: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    ahead: int = 0
    changes: int = 0
    changes_late: int = 0
    relation: int = 0
    stored: tuple[int, ...] = ()
    expired: tuple[int, ...] = ()
    resident: tuple[int, ...] = ()
    matched: int = 0
    shed: tuple[int, ...] = ()
    unadmitted: int = 0
    unretained: int = 0
    refused: int = 0
    evicted: int = 0
    outlived: int = 0
    spent: int = 0
    met: int = 0
    checks: int = 0
    checks_held: int = 0
    recomputed: int = 0
    importance: float = 0.0
    lifetimes: float = 0.0
    lifetimes_squared: float = 0.0
    recall_code: int = 0
    measured: float = 0.0
    measured_importance: float = 0.0
    missed: float = 0.0
    missed_variance: float = 0.0
    missed_importance: float = 0.0
    missed_importance_variance: float = 0.0
    so_far_measured: float = 0.0
    so_far_importance: float = 0.0
    so_far_missed: float = 0.0
    so_far_variance: float = 0.0
    so_far_missed_importance: float = 0.0
    so_far_importance_variance: float = 0.0
    looked: int = 0
    looked_exact: float = 0.0
    weight: float = 0.0
    variance_eq: float = 0.0
    variance_pps: float = 0.0
    variance_uniform: float = 0.0
    segments: int = 0
    budget: int = 0
    needed_rows: int = 0
    needed_bytes: int = 0
    expected_of: float = 0.0
    expected_from: float = 0.0
    expected_quarter: float = 0.0
    expected_half: float = 0.0
    expected_double: float = 0.0
    expected_fourfold: float = 0.0
    state_bytes: int = 0
    written_bytes: int = 0
    longest_chain: int = 0
    copy_hits: int = 0
    copy_misses: int = 0
    copy_fallbacks: int = 0
    watermark_ms: int = 0

    @property
    def recall(self) -> float | None:
        """Estimate of the share of the exact join's results that were emitted.

        None if it is not known; ``recall_state`` says why.

        >>> Report(recall_code=1, measured=150.0, missed=50.0).recall
        0.75
        """
        return self._recall.value

    @property
    def recall_low(self) -> float | None:
        """The lower end of the 95 % interval of the recall.

        >>> told = Report(recall_code=1, measured=90.0, missed=10.0, missed_variance=9)
        >>> round(told.recall_low, 3), round(told.recall_high, 3)
        (0.848, 0.959)
        """
        return self._recall.low

    @property
    def recall_high(self) -> float | None:
        """The upper end of the 95 % interval of the recall."""
        return self._recall.high

    @property
    def importance_recall(self) -> float | None:
        """Estimate of the share of the exact join's importance that was emitted."""
        return self._importance_recall.value

    @property
    def importance_recall_low(self) -> float | None:
        """The lower end of the 95 % interval of the importance recall."""
        return self._importance_recall.low

    @property
    def importance_recall_high(self) -> float | None:
        """The upper end of the 95 % interval of the importance recall."""
        return self._importance_recall.high

    @property
    def recall_so_far(self) -> Recall:
        """The recall over all micro-batches so far in which it was known."""
        found, missed = self.so_far_measured, self.so_far_missed
        return recall_of(ESTIMATED, found, missed, self.so_far_variance)

    @property
    def importance_recall_so_far(self) -> Recall:
        """The importance recall over all micro-batches so far in which it was known."""
        found, missed = self.so_far_importance, self.so_far_missed_importance
        variance = self.so_far_importance_variance
        return recall_of(ESTIMATED, found, missed, variance, signed=True)

    @property
    def recall_at(self) -> dict[float, float] | None:
        """Recall to expect, by factor of the budget; None if not known.

        Budgets below the smallest one that was simulated are left out.

        >>> expected = dict(zip(OTHER_BUDGETS.values(), (40.0, 60.0, 90.0, 100.0)))
        >>> from dataclasses import replace
        >>> told = Report(recall_code=1, measured=75.0, missed=25.0, expected_of=100.0)
        >>> replace(told, **expected).recall_at
        {0.25: 0.4, 0.5: 0.6, 1.0: 0.75, 2.0: 0.9, 4.0: 1.0}
        """
        if self.recall is None or not self.expected_of:
            return None
        found = {1.0: self.recall}
        for at, name in OTHER_BUDGETS.items():
            if at < self.expected_from:
                continue
            closer = min if at < 1.0 else max  # more memory never finds less
            found[at] = closer(getattr(self, name) / self.expected_of, self.recall)
        return dict(sorted(found.items()))

    @property
    def recall_state(self) -> str:
        """``exact``, ``estimated``, or ``unknown`` with a reason.

        It is exact if no row that was shed could have matched an arrival.

        >>> Report().recall_state
        'exact'
        """
        return STATES[state_code(self.recall_code, self.measured, self.missed)]

    @property
    def _recall(self) -> Recall:
        found, missed = self.measured, self.missed
        return recall_of(self.recall_code, found, missed, self.missed_variance)

    @property
    def _importance_recall(self) -> Recall:
        found, missed = self.measured_importance, self.missed_importance
        variance = self.missed_importance_variance
        return recall_of(self.recall_code, found, missed, variance, signed=True)

    @property
    def fairness(self) -> float:
        """Jain's fairness index of the lifetimes of all rows that have left.

        >>> five_five_five_zero = {"lifetimes": 15.0, "lifetimes_squared": 75.0}
        >>> Report(expired=(3, 0), shed=(1, 0), **five_five_five_zero).fairness
        0.75
        """
        gone = sum(self.shed) + sum(self.expired)
        if not self.lifetimes_squared:
            return 1.0
        return self.lifetimes**2 / (gone * self.lifetimes_squared)

    @property
    def scheme(self) -> str:
        """The sampling scheme with the least predicted variance, compared with others.

        >>> Report(variance_eq=9.0, variance_pps=3.0, variance_uniform=4.0).scheme
        'PpsCluster: variance 0.33 of EqCluster, 0.75 of Uniform'
        """
        variance = {
            "EqCluster": self.variance_eq,
            "PpsCluster": self.variance_pps,
            "Uniform": self.variance_uniform,
        }
        best = min(variance, key=lambda name: variance[name])
        if not variance[best]:
            return "all rows fit, or too little is known yet"
        others = (name for name in variance if name != best)
        said = (f"{variance[best] / variance[name]:.2f} of {name}" for name in others)
        return f"{best}: variance {', '.join(said)}"

    def counts(self, streams: Sequence[str]) -> dict[str, float]:
        """All counts by name. A count of a stream has the name of the stream appended.

        >>> Report(seen=(3, 4)).counts(("left", "right"))["seen_right"]
        4
        """
        found: dict[str, float] = {}
        for name in _FIELDS:
            value = getattr(self, name)
            if name in BY_STREAM:
                each = value or (0,) * len(streams)
                found |= {f"{name}_{s}": n for s, n in zip(streams, each, strict=True)}
            else:
                found[name] = value
        return found

    def __add__(self, other: Report) -> Report:
        each = {name: (getattr(self, name), getattr(other, name)) for name in _FIELDS}
        merged = {
            name: _add_up(a, b) if name in BY_STREAM else _COMBINE[combine(name)](a, b)
            for name, (a, b) in each.items()
        }
        return Report(**merged)  # type: ignore[arg-type]  # each of its own kind


def _add_up(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(add, a, b)) if a and b else a or b


_COMBINE: dict[str, Callable[[float, float], float]] = {"sum": add, "max": max}


def combine(name: str) -> Literal["sum", "max"]:
    """How the counts of shards are combined into one."""
    return "max" if name in _GREATEST else "sum"


def count_types(streams: Sequence[str]) -> dict[str, type]:
    """Names of all counts of a join, each with its type."""
    counts = Report().counts(streams)
    return {name: type(value) for name, value in counts.items()}


OTHER_BUDGETS = {
    0.25: "expected_quarter",
    0.5: "expected_half",
    2.0: "expected_double",
    4.0: "expected_fourfold",
}
"""Fields with the results to expect, by factor of the budget."""
_GREATEST = "watermark_ms", "longest_chain", "recall_code", "expected_from"
_FIELDS = tuple(field.name for field in fields(Report))
BY_STREAM = frozenset(f.name for f in fields(Report) if f.default == ())
"""Fields with one count for each stream."""
SO_FAR = tuple(name for name in _FIELDS if name.startswith("so_far"))
"""Fields that are sums over all micro-batches."""
