"""Adoption: a join with a budget takes over the residents of another kind of join."""

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
    """Add residents to a store; the next step counts those that do not fit as shed.

    The residents are processed like arrivals, but are not joined, because their matches
    were found before. Policies score them, models count them, and lots are drawn for
    them, as if the join had always had a budget. The residents are read segment by
    segment. So only one segment is in memory besides the rows that are kept.
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
    # Segments are not in the order of time. So delays of their rows are not lateness.
    store.lags["slack"] = lags_of(store.spec)["slack"]
