"""What one shard reports about one micro-batch."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal


@dataclass(frozen=True, slots=True)
class Report:
    """Counts of one shard and micro-batch; they add up over shards.

    ``seen = late + shed on arrival + stored``; ``stored`` rows are residents until they
    expire or are shed; ``resident`` rows are those that a coming arrival could still
    match. ``shed_*`` count all sheds of a side, and these say why, on both sides:
    ``unadmitted`` and ``unretained`` (the policy did not want them), ``refused`` (worth
    less than all residents), ``evicted`` (displaced), ``outlived`` (displaced when only
    late rows could still match them), ``spent`` (of a uniform sample: no later match of
    theirs is wanted).

    ``importance`` is that of the results. Lifetimes are in seconds, over all rows that
    left. ``slice_matched`` of the ``slice_exact`` matches that an unlimited join would
    find were emitted, both estimated from the monitored keys: their ratio estimates
    the recall.

    Of a sample, ``weight`` is the sum of the results' weights: an estimate of how many
    results there are. Of a uniform one, ``met`` counts the matches that residents met,
    emitted or not.
    ``checks`` are tests of the 95 % interval of that estimate on the monitored keys,
    whose matches are all counted; ``checks_held`` of them contained the truth.
    ``variance_*`` are predicted variances of that estimate by three schemes, up to a
    factor that they share; ``keep=Sample()`` takes the least.

    ``ahead`` rows lie more than the window after what both streams have reached, under
    a budget more than the window after the clock of shedding, which may lead that a
    little: they are joined as usual, but may have a wrong clock, or the other stream
    may be silent. ``longest_chain`` is the longest
    list of residents that a look-up went through: as long as the most popular key, or
    longer where keys collide. Copies of state on the node were taken (``copy_hits``),
    had to be made from the state store (``copy_misses``), or failed during the work
    (``copy_fallbacks``).
    """

    seen_left: int = 0
    seen_right: int = 0
    late_left: int = 0
    late_right: int = 0
    ahead: int = 0
    stored_left: int = 0
    stored_right: int = 0
    expired_left: int = 0
    expired_right: int = 0
    resident_left: int = 0
    resident_right: int = 0
    matched: int = 0
    shed_left: int = 0
    shed_right: int = 0
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
    slice_exact: float = 0.0
    slice_matched: float = 0.0
    weight: float = 0.0
    variance_eq: float = 0.0
    variance_pps: float = 0.0
    variance_uniform: float = 0.0
    segments: int = 0
    state_bytes: int = 0
    written_bytes: int = 0
    longest_chain: int = 0
    copy_hits: int = 0
    copy_misses: int = 0
    copy_fallbacks: int = 0
    watermark_ms: int = 0

    @property
    def recall(self) -> float:
        """Estimate of the share of the exact join's results that were emitted.

        >>> Report(slice_exact=200.0, slice_matched=150.0).recall
        0.75
        """
        return self.slice_matched / self.slice_exact if self.slice_exact else 1.0

    @property
    def fairness(self) -> float:
        """Jain's index of the lifetimes of all rows that have left.

        >>> five_five_five_zero = {"lifetimes": 15.0, "lifetimes_squared": 75.0}
        >>> Report(expired_left=3, shed_left=1, **five_five_five_zero).fairness
        0.75
        """
        gone = self.shed_left + self.shed_right + self.expired_left + self.expired_right
        if not self.lifetimes_squared:
            return 1.0
        return self.lifetimes**2 / (gone * self.lifetimes_squared)

    @property
    def scheme(self) -> str:
        """Which sample of the join is predicted to tell most, and why.

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

    @staticmethod
    def combine(name: str) -> Literal["sum", "max"]:
        """How a field is put together over shards."""
        return "max" if name in ("watermark_ms", "longest_chain") else "sum"

    def __add__(self, other: Report) -> Report:
        merged = {
            f.name: (max if self.combine(f.name) == "max" else _add)(
                getattr(self, f.name), getattr(other, f.name)
            )
            for f in fields(self)
        }
        return Report(**merged)  # type: ignore[arg-type]  # each of its own kind


def _add(a: float, b: float) -> float:
    return a + b


REPORT_FIELDS = tuple(field.name for field in fields(Report))
REAL_FIELDS = (
    "importance",
    "lifetimes",
    "lifetimes_squared",
    "slice_exact",
    "slice_matched",
    "weight",
    "variance_eq",
    "variance_pps",
    "variance_uniform",
)
"""Fields that are not whole numbers."""
