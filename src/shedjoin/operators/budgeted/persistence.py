"""State of a budgeted shard in and out.

Payload lies in segments, as without a budget. What changes with every match or shed is
small, and lies in a *log*: each micro-batch adds the slots that changed, and when the
log has grown to twice the table it is replaced by the table itself. So what is written
is proportional to what changed. The directory says which segments and parts of the log
there are; the models are stored whole, they have a fixed size.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.columns.ipc import encode_rows
from shedjoin.columns.schema import as_stored
from shedjoin.errors import StateMismatchError
from shedjoin.operators.budgeted.store import BudgetedStore, shedding_of
from shedjoin.operators.budgeted.table import SlotTable
from shedjoin.policies.base import overrides
from shedjoin.sampling.thresholds import Thresholds
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import DIRECTORY, Blobs, Commit, load_segment
from shedjoin.state.codec import FORMAT, check_origin
from shedjoin.state.payload import Payload, Stored
from shedjoin.state.workspace import Workspace

MODELS = -2
_FIRST_LOG = -3
_META = b"shedjoin"
_SEGMENTS = pa.schema([(name, pa.int64()) for name in Stored._fields])


def stored_facts(blobs: Blobs, spec: JoinSpec) -> dict[str, Any] | None:
    """Read the directory; None for a shard that has no state yet."""
    blob = blobs.get(DIRECTORY)
    if blob is None:
        return None
    with pa.ipc.open_stream(blob) as reader:
        facts: dict[str, Any] = json.loads(reader.schema.metadata[_META])
        table = reader.read_all()
    check_origin(facts["format"], facts["fingerprint"], spec.fingerprint())
    _check_format(facts["format"])
    _check_sample(facts, shedding_of(spec))
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    facts["segments"] = [Stored(*row) for row in rows]
    return facts


def _check_format(found: int) -> None:
    if found < FORMAT:
        raise StateMismatchError(
            f"the checkpoint has a budget and was written in format {found}; this "
            f"version reads such state from format {FORMAT} on.",
            fix="go on with the version that wrote it, or start with a new "
            "checkpointLocation.",
        )


def _check_sample(facts: dict[str, Any], shedding: Shedding) -> None:
    """Refuse to sample from residents that were drawn in another way.

    Nothing would tell how likely each of them was to stay.
    """
    wanted = _sample(shedding)
    if wanted is not None and facts["sample"] != wanted:
        raise StateMismatchError(
            f"the checkpoint holds {_described(facts['sample'])}; this query wants "
            f"{_described(wanted)}.",
            fix="start with a new checkpointLocation, or restore the old keep= and "
            "the old split.",
        )


def _sample(shedding: Shedding) -> dict[str, Any] | None:
    """How a sample is drawn; None if it is no sample."""
    policy = shedding.policy
    if not policy.samples:
        return None
    return {
        "seed": shedding.coin_seed,
        "coins": [verb for verb in ("thin", "coins") if overrides(policy, verb)],
        "pooled": shedding.budget.split is None,
    }


def _described(sample: dict[str, Any] | None) -> str:
    if sample is None:
        return "rows without weights"
    coins = "lots and coins" if sample["coins"] else "lots"
    split = "no split" if sample["pooled"] else "a split"
    return f"a sample by {coins} with seed {sample['seed']} and {split}"


def open_store(
    blobs: Blobs,
    facts: dict[str, Any] | None,
    spec: JoinSpec,
    shard: int,
    workspace: Workspace,
    *,
    seed: int = 0,
    opened: bool = False,
) -> BudgetedStore:
    """Make the store from stored state, or take it as the workspace holds it.

    ``seed`` is that of a state that begins.
    """
    table = SlotTable(workspace, seed=seed, opened=opened)
    if facts is None:
        return BudgetedStore(spec, shard, table, Payload(workspace))
    payload = Payload(workspace, facts["segments"], facts["next_id"])
    store = BudgetedStore(spec, shard, table, payload)
    store.watermark_ms = facts["watermark_ms"]
    store.log = list(facts["log"])
    store.log_rows = facts["log_rows"]
    store.gains = [(at, gained) for at, gained in facts["gains"]]
    store.thresholds = Thresholds(facts["thresholds"])
    store.models.decode(load_segment(blobs, MODELS))
    if not opened:
        for number in payload.segments:
            workspace.put(number, as_stored(load_segment(blobs, number)))
        table.resize(facts["slots"])
        table.scalars[:] = facts["scalars"]
        for number in store.log:
            table.put(_columns(load_segment(blobs, number)))
        table.clean()
    if facts.get("in_bytes", store.in_bytes) != store.in_bytes:
        store.measure()
    if not opened or store.pooled != facts["pooled"]:
        table.finish(pooled=store.pooled)
    return store


def commit(store: BudgetedStore, blobs: Blobs, former: str) -> tuple[str, int]:
    """Write what a micro-batch changed; return the new token and the bytes written.

    New segments come first, one at a time out of the workspace: if that fails, nothing
    has been taken from the state before, and the micro-batch can be done again.
    """
    changes = Commit(blobs, former)
    payload = store.payload
    for number in payload.written:
        changes.put_rows(number, payload.workspace.get(number))
    for number in payload.dropped:
        changes.remove(number)
    store.table.order_free_slots()
    _write_log(store, changes)
    changes.put_rows(MODELS, store.models.encode())
    token = changes.token(_directory(store, ""))
    changes.put(DIRECTORY, _directory(store, token))
    payload.written.clear()
    payload.dropped.clear()
    return token, changes.written_bytes


def _write_log(store: BudgetedStore, changes: Commit) -> None:
    """Write the slots that changed, or all if that is less in the long run.

    All, too, when residents have moved to other slots: the log speaks of the old ones.
    """
    table = store.table
    slots, last = table.dirty(), _last(store)
    if table.moved or store.log_rows + slots.size > 2 * table.count + 1024:
        for number in store.log:
            changes.remove(number)
        slots, store.log, store.log_rows = table.alive(), [], 0
    table.clean()
    if slots.size:
        store.log.append(last - 1)
        store.log_rows += slots.size
        changes.put_rows(last - 1, pa.record_batch(table.hot(slots)))


def _last(store: BudgetedStore) -> int:
    return store.log[-1] if store.log else _FIRST_LOG


def _directory(store: BudgetedStore, token: str) -> bytes:
    facts = {
        "format": FORMAT,
        "fingerprint": store.spec.fingerprint(),
        "token": token,
        "watermark_ms": store.watermark_ms,
        "next_id": store.payload.next_id,
        "slots": store.table.size,
        "scalars": store.table.scalars.tolist(),
        "pooled": store.pooled,
        "in_bytes": store.in_bytes,
        "sample": _sample(store.shedding),
        "log": store.log,
        "log_rows": store.log_rows,
        "gains": store.gains,
        "thresholds": store.thresholds.noted,
    }
    text = json.dumps(facts, sort_keys=True).encode()
    schema = _SEGMENTS.with_metadata({_META: text})
    segments = list(store.payload.segments.values())
    columns = zip(*segments, strict=True) if segments else ()
    arrays = [pa.array(column, pa.int64()) for column in columns]
    batches = [pa.record_batch(arrays, schema=schema)] if arrays else []
    blob: bytes = encode_rows(batches, schema).to_pybytes()
    return blob


def _columns(rows: pa.RecordBatch) -> dict[str, np.ndarray[Any, Any]]:
    return {
        name: column.to_numpy(zero_copy_only=False)
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
    }
