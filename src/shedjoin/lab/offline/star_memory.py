"""The memory of one stream in one shard: its search, and the matches that it finds."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.lab.kernels.memory_states import Gains
from shedjoin.lab.offline.search import Search
from shedjoin.lab.offline.star_matches import Matches, Total
from shedjoin.lab.offline.star_shards import Shard
from shedjoin.lab.offline.star_side import Prefilter, StarSide, star_side
from shedjoin.spec.shedding import Discipline
from shedjoin.types import IntArray

Most = Literal["importance", "results"]
"""What is maximised: the sum of importances, or the number of results."""


class Options(NamedTuple):
    """What is maximised, the discipline, and the prefilter."""

    most: Most
    discipline: Discipline
    prefilter: Prefilter


class Memory(NamedTuple):
    """Rows that could be held in the memory of a stream, and the search for the best.

    ``rows`` are the numbers of the shard's rows in the table of the stream.
    """

    own: StarSide
    rows: IntArray
    matches: Matches
    clock: pa.DataType
    search: Search

    def found(self, leave: IntArray) -> Total:
        """Matches that are found if rows are dropped at these steps."""
        match, row, step = self.own.match, self.own.match_row, self.own.match_step
        return self.matches.total(match[step < leave[row]])

    def stays(self, leave: IntArray) -> pa.Table:
        """From when to when rows are held, for the rows that are held at all."""
        own, times = self.own, self.matches.times
        held = np.flatnonzero(leave > np.arange(leave.size))
        shed = leave[held] < own.leave[held]
        gone = own.gone[held]
        gone[shed] = own.come[leave[held[shed]]]
        ended = gone < times.size
        until = pa.array(times[np.where(ended, gone, 0)], mask=~ended)
        return pa.table(
            {
                "row": self.rows[own.row[held]],
                "stored_from": pa.array(times[own.come[held]]).cast(self.clock),
                "gone_at": until.cast(self.clock),
            }
        )


def side_memory(
    shard: Shard, matches: Matches, side: int, capacity: int, options: Options
) -> Memory:
    """The memory of one stream of a shard, which is 0 for left or 1 for right."""
    own = star_side(shard.star, matches, side, options.prefilter, options.discipline)
    weight = matches.importance[own.match]
    if options.most == "results":
        weight = np.ones(weight.size)
    start = np.searchsorted(own.match_row, np.arange(own.row.size + 1))
    search = Search(
        own.leave,
        Gains(start, own.match_step, weight),
        capacity,
        ranked=options.prefilter == "matches",
    )
    return Memory(own, shard.rows[side], matches, shard.star.clock, search)
