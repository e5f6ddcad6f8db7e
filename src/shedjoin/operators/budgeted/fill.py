"""Fills: a fill finds and sorts the residents that kernels shed next."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from shedjoin.kernels.candidates import DATED, POOL, RANKED, Candidates, put_queue
from shedjoin.kernels.round import Rules
from shedjoin.kernels.slots import NOBODY, survey
from shedjoin.operators.budgeted.table import SlotTable
from shedjoin.operators.budgeted.through import OWN_KEYS, Through
from shedjoin.sampling.lags import no_lags
from shedjoin.types import BoolArray, FloatArray, IntArray, Records

NEVER_DUE = 1 << 62
_FEWEST = 64
_FITS = _ABOVE_ALL = 1 << 62
_GREATEST = np.finfo(np.float64).max
_FILLS_PER_WINDOW = 8


def lowest(score: FloatArray, tie: IntArray, count: int) -> IntArray:
    """Positions of the ``count`` lowest rows by (score, tie), in this order.

    >>> import numpy as np
    >>> lowest(np.array([3.0, 1.0, 1.0, 2.0]), np.array([0, 2, 1, 3]), 2).tolist()
    [2, 1]
    """
    if count < score.size:
        bar = np.partition(score, count - 1)[count - 1]
        chosen = np.flatnonzero(score <= bar)
        if chosen.size > count:
            at_bar = score[chosen] == bar
            below, level = chosen[~at_bar], chosen[at_bar]
            need = count - below.size
            level = level[np.argpartition(tie[level], need - 1)[:need]]
            chosen = np.concatenate([below, level])
    else:
        chosen = np.arange(score.size)
    worth = score[chosen]
    order = np.argsort(worth)  # much faster than a stable sort
    worth = worth[order]
    rise = worth[1:] != worth[:-1]
    if rise.all():
        return chosen[order]
    rank = np.zeros(chosen.size, np.int64)
    np.cumsum(rise, out=rank[1:])
    ties = tie[chosen[order]]
    ties -= ties.min()
    if int(ties.max()) * int(rank[-1] + 1) >= _FITS:
        return chosen[np.lexsort((tie[chosen], score[chosen]))]
    rank *= ties.max() + 1
    return chosen[order[np.argsort(rank + ties)]]


Columns: TypeAlias = tuple[FloatArray | IntArray, IntArray, IntArray]
"""Scores or times, numbers and slots of some residents."""


class Everyone(NamedTuple):
    """All residents of a pool, as columns.

    ``soon`` are the indices of residents that expire soon, and ``expiry`` the times at
    which they expire.
    """

    score: FloatArray
    number: IntArray
    slot: IntArray
    soon: IntArray
    expiry: IntArray

    def select(self, rows: BoolArray) -> Everyone:
        """Select some of the residents."""
        place, mine = np.cumsum(rows) - 1, rows[self.soon]
        soon, expiry = place[self.soon[mine]], self.expiry[mine]
        columns = self.score[rows], self.number[rows], self.slot[rows]
        return Everyone(*columns, soon, expiry)


class Pool(NamedTuple):
    """Candidates of a pool in order, young rows, and rows that expire soon.

    ``chosen`` are the indices of the candidates in ``among``. ``young`` are rows that
    the maturity of the policy protects.
    """

    chosen: IntArray
    among: Everyone
    young: Columns
    soon: Columns
    complete: bool
    """Whether all residents except the young ones are candidates. If so, every new
    resident becomes a candidate at once. So a small pool does not need a fill for each
    new resident."""


NOTHING = np.zeros(0, np.int64)
_NO_ROWS = NOTHING, NOTHING, NOTHING
_NOBODY = Everyone(np.zeros(0), NOTHING, NOTHING, NOTHING, NOTHING)
NO_POOL = Pool(NOTHING, _NOBODY, _NO_ROWS, _NO_ROWS, complete=True)


def no_candidates(pools: int) -> Candidates:
    """Empty candidates, as before the first fill.

    The bar is so low that no new resident becomes a candidate before a fill.
    """
    candidates = _candidates([NO_POOL] * pools, 1, 1)
    candidates.pools["all_deferred"] = 0  # not known yet
    candidates.pools["overfull"] = 1
    candidates.pools["bar_score"] = -np.inf
    return candidates


class Filler:
    """Finds the candidates of one shard.

    Parameters
    ----------
    table : SlotTable
        The residents.
    rules : Rules
        Rules of the join, as kernels need them.
    room : int
        Approximate number of arrivals of a block.
    through : Through, optional
        Decides which keys match.
    lags : array, optional
        Delays of a sample's arrivals behind the clock.
    """

    def __init__(
        self,
        table: SlotTable,
        rules: Rules,
        room: int,
        through: Through = OWN_KEYS,
        lags: Records | None = None,
    ) -> None:
        self._table = table
        self._rules = rules
        self._room = room
        self._through = through
        self._lags = no_lags() if lags is None else lags
        self._asked, self._until = NOTHING, NOTHING
        """By slot: the number of the row whose relation rows were looked up last, and
        the time until which this row is related to keys of the other stream."""

    def fill(self) -> Candidates:
        """Find and sort the rows of each pool that are shed next.

        A fill does not change scores. So the order in which residents are shed does not
        depend on when a fill happens.
        """
        table, pools = self._table, len(self._rules.capacity)
        clock = table.clock_us
        horizon = clock + max(1, max(self._rules.keep) // _FILLS_PER_WINDOW)
        table.facts["fill_at"] = horizon
        score = np.empty(table.size + 1)
        slot, number, soon = (np.empty(table.size + 1, np.int64) for _ in range(3))
        horizon -= int(self._lags["slack"][0])
        before = tuple(horizon - keep for keep in self._rules.keep)
        rows, few = survey(before, table.table, slot, number, score, soon)
        columns = score[:rows], number[:rows], slot[:rows]
        everyone = Everyone(*columns, *self._expiring(slot[:rows], soon[:few], horizon))
        if self._rules.pooled:
            found = [self._pool(everyone, clock), *[NO_POOL] * (pools - 1)]
        else:
            stream = table.stream(everyone.slot)
            found = [
                self._pool(everyone.select(stream == pool), clock)
                for pool in range(pools)
            ]
        return _candidates(found, self._room, self._rules.tie)

    def _expiring(
        self, slots: IntArray, soon: IntArray, horizon: int
    ) -> tuple[IntArray, IntArray]:
        """Indices of the rows that expire before a time, and when they expire.

        Without a relation, a row expires when its window is over. With a relation, it
        also expires when its relation rows are no longer valid.
        """
        keep = np.array(self._rules.keep)
        if not self._through.relates:
            mine = slots[soon]
            time = self._table.table.residents["time"][mine]
            return soon, time + keep[self._table.stream(mine)]
        self._ask(slots)
        time = self._table.table.residents["time"][slots]
        expiry = time + keep[self._table.stream(slots)]
        np.minimum(expiry, self._until[slots], out=expiry)
        soon = np.flatnonzero(expiry < horizon)
        return soon, expiry[soon]

    def _ask(self, slots: IntArray) -> None:
        """Look up until when residents are related to keys of the other stream.

        This is done once per resident and micro-batch.
        """
        more = self._table.size - self._asked.size
        self._asked = np.append(self._asked, np.full(max(0, more), NOBODY))
        self._until = np.append(self._until, np.empty(max(0, more), np.int64))
        number = self._table.numbers[slots]
        new = slots[self._asked[slots] != number]
        rows = self._table.residents(new, self._rules.keep, None)
        self._until[new] = self._through.expiry(rows.stream, rows.key, rows.time)
        self._asked[new] = rows.number

    def _pool(self, everyone: Everyone, clock: int) -> Pool:
        score, number, slots, soon, expiry = everyone
        time = self._table.table.residents["time"]
        young, some, tie = NOTHING, slots.size, self._rules.tie * number
        worth = score
        if self._rules.maturity >= 0:
            age = clock - time[slots]
            spared = (age <= self._rules.maturity) & (age >= -self._rules.window)
            young = np.flatnonzero(spared)
            young = young[np.argsort(number[young])]
            some -= young.size
            worth = np.where(spared, np.inf, np.minimum(score, _GREATEST))
        due = int(self._table.facts["sheds_left"])
        count = min(some, due if due < NEVER_DUE // 2 else slots.size // 2)
        count = min(some, max(count, _FEWEST if due > 1 else 1))
        chosen = lowest(worth, tie, count) if count else NOTHING
        order = np.lexsort((number[soon], expiry))
        soon, expiry = soon[order], expiry[order]
        return Pool(
            chosen,
            everyone,
            (time[slots[young]], number[young], slots[young]),
            (expiry, number[soon], slots[soon]),
            complete=count == some,
        )


def _candidates(pools: list[Pool], room: int, tie: int) -> Candidates:
    """Candidates in the arrays that kernels use, with room for new residents.

    The bar of a complete pool is above all scores, even above an infinite score.
    """
    room += _FEWEST
    queued = max(pool.chosen.size for pool in pools)
    young = max(pool.young[0].size for pool in pools)
    soon = max(pool.soon[0].size for pool in pools)
    found = Candidates(
        pools=np.zeros(len(pools), POOL),
        queue=np.empty((len(pools), max(1, queued)), RANKED),
        heap=np.empty((len(pools), max(room, queued)), RANKED),
        deferred=np.empty((len(pools), room + young), DATED),
        expiring=np.empty((len(pools), soon + 1), DATED),
        expected=np.empty((len(pools), room), RANKED),
    )
    for number, pool in enumerate(pools):
        facts = found.pools[number]
        queued, queue = pool.chosen.size, found.queue[number]
        put_queue(pool.chosen, *pool.among[:3], queue)
        facts["queue_end"] = queued
        facts["deferred_end"] = pool.young[0].size
        facts["expiring_end"] = pool.soon[0].size
        facts["all_deferred"] = queued == 0
        facts["bar_score"], facts["bar_number"] = np.inf, tie * _ABOVE_ALL
        if not pool.complete:
            facts["bar_score"] = queue["score"][queued - 1]
            facts["bar_number"] = queue["number"][queued - 1]
        _write(found.deferred[number], pool.young)
        _write(found.expiring[number], pool.soon)
    return found


def _write(into: Records, columns: Columns) -> None:
    for name, column in zip(into.dtype.names or (), columns, strict=True):
        into[name][: column.size] = column
