"""Adoption: residents of a join without a budget move to one with a budget."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from shedjoin.columns.arrivals import Blob
from shedjoin.columns.ipc import encode_rows
from shedjoin.operators.budgeted.rounds import Rounds
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.frame.join import BEGINNING_MS, Residents
from shedjoin.operators.frame.limits import Paced
from shedjoin.operators.frame.ordered import Timely
from shedjoin.sampling.lags import lags_of


def take_over(store: BudgetedStore, residents: Iterable[Residents]) -> None:
    """Add residents; rows that find no room are counted by the next step.

    They go through the same rounds as arrivals, but are not joined: their matches were
    found before. So policies score them, models learn them, and lots are drawn for
    them, as if the budget had always been there. They are read segment by segment, so
    that only one segment is in memory besides the rows that are kept.
    """
    rounds = Rounds(store, store.shedding, probes=False)
    count = np.zeros(len(store.spec.streams), np.int64)
    for stream, rows in residents:
        blob = Blob(stream, b"", encode_rows([rows], rows.schema))
        arrivals = Timely([blob], store.spec, BEGINNING_MS, store.slot_bytes)
        count += arrivals.taken
        for part in arrivals.parts():
            store.needed.add(part)
            store.completeness.note_came(int(part.time[-1]))
            store.start(int(part.time[0]), BEGINNING_MS)
            for _ in rounds.run(part):
                pass
            store.keep_pending(part)
            store.fit()
        store.needed.arrive()
    store.not_adopted = count - store.table.by_stream
    store.paced = Paced()  # this was not work of a micro-batch
    store.lags["slack"] = lags_of(store.spec)["slack"]  # segments come in any order
