"""Keeps the work of a join by predicates within a throttle.

At the start of every micro-batch, the join decides with which residents arrivals are
compared, and which part of the arrivals is dropped. The decision uses only what was
learned in earlier micro-batches. Whether an arrival is shredded, compared at the chosen
lags or dropped depends on a hash of its row. So a repeated micro-batch gives the same
results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Chunk
from shedjoin.columns.hot import Hot
from shedjoin.columns.placing import content
from shedjoin.models.meter import Missed
from shedjoin.operators.frame.completeness import Completeness, Measured
from shedjoin.operators.frame.limits import Paced
from shedjoin.operators.multiway.hops import Group, Hops, hop_order
from shedjoin.operators.multiway.lags import (
    Edges,
    Looks,
    everything,
    lag_edges,
    stretches,
)
from shedjoin.operators.multiway.learned import Learned
from shedjoin.operators.multiway.store import MultiwayStore
from shedjoin.operators.multiway.tally import Tally
from shedjoin.policies.gedik import PredicatePolicy
from shedjoin.sampling.lots import lots
from shedjoin.spec.recall import DROPPED, EXACT
from shedjoin.spec.report import Report
from shedjoin.spec.throttle import Throttle
from shedjoin.types import FloatArray, IntArray

_DROPS = 0xD509
"""Combined with the seed, so that dropping a row is independent of shredding it."""
_SCOUTS = 0.35
"""Part of the shredded arrivals that are scouts. A scout is first joined with another
stream than usual."""
_FARTHEST, _MORE = 16.0, 1.5
"""After too much work, the allowed work is divided by at most the first number. After
too little work, it is multiplied by at most the second. The second number is small,
because a quiet stream may be the reason for too little work. When rows of this stream
come again, their work returns at once."""
_BETTER = 1.1
"""Lags are chosen only if they are expected to bring this many times the results that
all lags bring for the same work. Without this margin, lags would often be chosen that
bring no more results, because the best of many noisy estimates is too high."""
_ENOUGH = 2000.0
"""Limit of the arrivals per window that are shredded while no throttle is active."""
_FEW, _AT_FIRST = 20.0, 4.0
"""Until ``_FEW`` arrivals were shredded, the shredded part is larger, at most
``_AT_FIRST`` times. Harvests that are chosen from fewer arrivals are hardly better than
random ones."""
_OFF = 0.25
"""If arrivals of a stream bring too few results for their work, the part of them that
is shredded is multiplied by this, once ``_FEW`` of them have been shredded."""
_TRY_AGAIN = 0.25
"""Part of the excess work that is forgotten in each micro-batch in which no lags are
chosen."""
_SECOND_US = 1_000_000
_NEVER = int(np.iinfo(np.int64).min)
_LOOKS_ALONE = Throttle(match=0.0)


class Configuration(NamedTuple):
    """The residents with which the arrivals of a micro-batch are compared.

    An arrival takes part with the probability ``admit`` of its stream; otherwise, it is
    dropped. The part ``shred`` of the remaining arrivals is shredded. An arrival that
    is not shredded is compared with the residents in ``looks``, with the probability
    ``chance``. If ``looks`` is None for a stream, such an arrival is not compared.
    """

    looks: tuple[Looks | None, ...]
    shred: float
    chance: float = 1.0
    admit: tuple[float, ...] | None = None
    chosen: bool = True
    """Whether lags were chosen. If not, all looks cover all residents."""


def edges_of(store: MultiwayStore) -> Edges:
    """Starts of the lag buckets and the end of the last one, by direction and hop.

    If rows of a basic window are sorted by key or lead, a search covers the whole basic
    window. So in this case, buckets are not shorter than basic windows.
    """
    edges = {}
    for stream, other in permutations(store.streams, 2):
        indexed = store.layouts[other].lead or store.spec.streams[other].keys
        narrowest_us = store.windows[other].width_us if indexed else 1
        edges[stream, other] = lag_edges(store.spec, stream, other, narrowest_us)
    return edges


class Harvesting:
    """Keeps the work of one shard within the throttle, for one micro-batch.

    While the throttle is active, arrivals are counted before they are joined. So if
    many arrivals come after a quiet time, each is compared with fewer residents.

    Parameters
    ----------
    store : MultiwayStore
        The residents.
    completeness : Completeness
        Record of missing results, which is updated.
    learned : Learned
        Counts of earlier micro-batches, which are updated.
    edges : dict
        Starts of the lag buckets and the end of the last one, by direction and hop.
    coming : array, optional
        Number of arrivals by stream, if the throttle is active.
    """

    def __init__(
        self,
        store: MultiwayStore,
        completeness: Completeness,
        learned: Learned,
        edges: Edges,
        coming: IntArray | None = None,
    ) -> None:
        shedding, streams = store.spec.shedding, store.streams
        if shedding is None or not isinstance(shedding.policy, PredicatePolicy):
            raise TypeError(shedding)
        self._store = store
        self._completeness = completeness
        self._policy = shedding.policy
        self._drops = type(self._policy).chances is not PredicatePolicy.chances
        self._throttle = shedding.throttle
        self._seed = shedding.seed
        self.edges = edges
        self.learned = learned
        self._coming = None
        if coming is not None and coming.any():
            self._coming = coming.astype(np.float64)
        if not learned.orders:
            orders = (hop_order(store, stream) for stream in streams)
            learned.orders = [tuple(order) for order in orders]
        self._tallies = [Tally(len(streams), self.edges) for _ in streams[1:]]
        self._seen = np.zeros(len(streams), np.int64)
        self._stored = np.zeros(len(streams), np.int64)
        self._time = 0.0
        self._looked = 0
        self._dropped_us = _NEVER
        self._paced = 1.0
        self.configuration = self.configured()

    def admitted(self, chunk: Chunk) -> Chunk:
        """Select the arrivals of a chunk that take part; the others are dropped."""
        rows, stream = chunk.rows.num_rows, chunk.stream
        self._seen[stream] += rows
        self._time += float((chunk.hot.time >> 10).sum())
        admit = self.configuration.admit
        if admit is not None and admit[stream] < 1 and rows:
            self._dropped_us = max(self._dropped_us, int(chunk.hot.time.max()))
            kept = np.flatnonzero(self._lots(chunk, _DROPS) < admit[stream])
            hot = Hot(chunk.hot.key[kept], chunk.hot.time[kept])
            chunk = chunk._replace(rows=chunk.rows.take(pa.array(kept)), hot=hot)
        self._stored[stream] += chunk.rows.num_rows
        return chunk

    def taken_in(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """Join arrivals with the chosen residents, then store the arrivals."""
        hops = Hops(self._store, chunk)
        yield from hops.joined(self._groups(chunk))
        self._looked += hops.looked
        self._store.insert(chunk.stream, chunk.rows, chunk.hot)

    def end(self, report: Report) -> Report:
        """Learn from a micro-batch; return its report with work and recall."""
        learned, arrived = self.learned, int(self._seen.sum())
        if arrived:
            half_us = max(self._store.spec.window_us, _SECOND_US)
            learned.fade(1024 * self._time / arrived, half_us)
            learned.count(self._seen, self._stored, self._tallies)
            learned.reorder(self._throttle)
        exact, looked_exact = float(report.matched), float(self._looked)
        if self._throttle.active:
            exact = max(exact, self._exact(report.matched))
            looked_exact = self._whole_work(_LOOKS_ALONE)
            self._pace(report.matched)
        else:
            learned.paced[:] = 0.0
        report = replace(
            report,
            looked=self._looked,
            looked_exact=max(looked_exact, float(self._looked)),
        )
        return self._told(report, exact)

    def _told(self, report: Report, exact: float) -> Report:
        """Add the recall to a report.

        Results of a dropped row are missing until no arrival could match this row any
        more. While rows are being dropped, the estimate includes these results. After
        the last drop, the number of missing results is unknown until then.
        """
        if self._dropped_us > _NEVER:
            self._completeness.note_shed(self._dropped_us)
        drops = self.configuration.admit is not None
        reason = DROPPED if not drops and self._completeness.lacks else EXACT
        missed = Missed(exact - report.matched, exact - report.matched)
        off = 0.0 if drops else self.learned.results_off(self._seen)
        off *= exact > report.matched
        measured = Measured(report.matched, 0.0, missed, off=off)
        skips = self._throttle.active or self._dropped_us > _NEVER
        return self._completeness.told(report, measured, skips=skips, reason=reason)

    def configured(self) -> Configuration:
        """Decide with which residents arrivals are compared, given earlier counts."""
        spec, learned = self._store.spec, self.learned
        policy, share = self._policy, self._throttle.share
        few = min(max(_FEW / max(learned.least, 1.0), 1.0), _AT_FIRST)
        shred = min(few * policy.shreds, 0.5) * share
        whole = tuple(
            everything(spec, stream, order)
            for stream, order in enumerate(learned.orders)
        )
        if not self._throttle.active:
            # More shredded arrivals would cost work, but hardly improve the estimates.
            seen = max(float(learned.seen.sum()), 1.0)
            return Configuration(whole, min(policy.shreds, _ENOUGH / seen))
        paced = min(1.0, share / self._far())
        self._paced = paced
        return self._limited(whole, paced, shred)

    def _limited(
        self, whole: tuple[Looks, ...], paced: float, shred: float
    ) -> Configuration:
        """Have the policy choose a configuration within the allowed work.

        Before the first arrival has been shredded, a random part of the arrivals is
        compared with all residents. The same is done if the choice of the policy is
        expected to bring hardly more results. In these cases, the part is the share of
        the throttle. This part is not corrected for excess work at lags chosen earlier.
        """
        learned, policy = self.learned, self._policy
        rest, part = (
            max(0.0, work - shred) / (1 - shred)
            for work in (paced, self._throttle.share)
        )
        if not learned.is_known:
            if self._drops:
                equal = (paced**0.5,) * len(whole)
                return Configuration(whole, policy.shreds, admit=equal)
            return Configuration(whole, shred, part, chosen=False)
        coming = learned.seen if self._coming is None else self._coming
        load = learned.load(self._throttle, coming)
        whole_work = float(coming @ learned.whole_work(self._throttle))
        admit = policy.chances(paced * whole_work, load)
        if admit is not None:
            return Configuration(whole, policy.shreds, admit=admit)
        found = policy.harvest(rest * whole_work, load)
        part *= whole_work / load.work if load.work > 0 else 1.0
        if found is None or found.results <= _BETTER * part * load.results:
            return Configuration(whole, shred, part, chosen=False)
        looks = []
        for stream, (direction, counts) in enumerate(
            zip(load.directions, found.counts, strict=True)
        ):
            order = learned.orders[stream]
            lags = {
                other: stretches(self.edges[stream, other], ranked[:count])
                for other, ranked, count in zip(
                    order, direction.ranked, counts, strict=True
                )
            }
            looks.append(Looks(order, lags) if all(counts) else None)
        return Configuration(tuple(looks), shred, found.chance)

    def _groups(self, chunk: Chunk) -> Iterator[Group]:
        """Yield a group of shredded arrivals for each first stream, and the others."""
        spec, stream = self._store.spec, chunk.stream
        looks, shred, chance, *_ = self.configuration
        if looks[stream] is None and self.learned.counted[stream] > _FEW:
            shred *= _OFF
        lot = self._lots(chunk, 0)
        order = self.learned.orders[stream]
        shredded = np.flatnonzero(lot < shred)
        # The lot of a shredded arrival also decides with which stream the arrival is
        # joined first.
        turn = lot[shredded] / shred * (len(order) - 1) / _SCOUTS
        first = np.where(turn < len(order) - 1, turn.astype(np.int64) + 1, 0)
        for place, tally in enumerate(self._tallies):
            others = (*order[place : place + 1], *order[:place], *order[place + 1 :])
            rows = shredded[first == place]
            yield Group(rows, everything(spec, stream, others), tally)
        own = looks[stream]
        if own is not None:
            until = shred + chance * (1 - shred)
            yield Group(np.flatnonzero((lot >= shred) & (lot < until)), own)

    def _lots(self, chunk: Chunk, salt: int) -> FloatArray:
        same = np.full(chunk.rows.num_rows, chunk.stream, np.int64)
        return lots(self._seed ^ salt, content(chunk.rows), same)

    def _exact(self, matched: int) -> float:
        """Estimate the number of results of the exact join."""
        learned, (_, shred, chance, admit, _) = self.learned, self.configuration
        if admit is not None:
            return matched / max(float(np.prod(admit)), 1e-9)
        known = learned.counted > 0
        if not known.any():
            return matched / max(shred + chance * (1 - shred), 1e-9)
        each = learned.results[known] / learned.counted[known]
        return float(self._seen[known] @ each)

    def _pace(self, matched: int) -> None:
        """Compare the work that was done with the work that was planned.

        Later micro-batches divide the work that they plan by the ratio of the two.
        While no lags are chosen, a part of the arrivals is compared with all residents.
        This takes exactly that part of the work, so there is nothing to compare.
        Instead, the excess work at lags chosen earlier is forgotten step by step, so
        that lags are tried again. If there was nothing to compare arrivals with,
        nothing is recorded.
        """
        if self.learned.is_known and self._looked:
            # Rows that are dropped now reduce the work of a whole window. A correction
            # for recent excess would act too late, and make the work oscillate.
            drops = self.configuration.admit is not None
            asked = self._throttle.share if drops else self._paced
            done = self._throttle.update * self._looked + self._throttle.match * matched
            meant = asked * self._whole_work(self._throttle)
            if not self.configuration.chosen:
                far = self._far()
                done = meant * (far + (1 - far) * _TRY_AGAIN)
            self.learned.paced += np.round([done, meant], 3)

    def _far(self) -> float:
        """Work done divided by work planned, within limits."""
        return Paced(*self.learned.paced.tolist()).ratio(1 / _MORE, _FARTHEST)

    def _whole_work(self, throttle: Throttle) -> float:
        """Work of this micro-batch if all arrivals were compared with all residents."""
        if not self.learned.is_known:
            _, shred, chance, *_ = self.configuration
            part = max(shred + chance * (1 - shred), 1e-9)
            return throttle.update * self._looked / part
        return float(self._seen @ self.learned.whole_work(throttle))
