"""The joins under test, and what each gives when nothing ever goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, Literal
from unittest.mock import patch

import pyarrow as pa

from local.runs import REPORTED, matches_of, truth, window_of
from shedjoin import Budget, local, policies
from shedjoin.columns.arrivals import Blob
from shedjoin.local import shard as local_shards
from shedjoin.local.delivery import Delivery
from shedjoin.local.tables import make_spec
from shedjoin.policies.goals import shedding_of
from shedjoin.spark.shard import bucket_seed
from shedjoin.spec.streams import JoinSpec
from support.keys import key_fields
from support.streams import tables

from .attempt import OF_COPIES, QUERY, SHARD
from .streams import make_stream

Kind = Literal["exact", "budgeted", "sampled"]
KINDS: tuple[Kind, ...] = ("exact", "budgeted", "sampled")
TIMES = ("left_time", "right_time")
DIRECTORY = -1
_BLOBS = 2
_BUDGETS = (
    Budget(rows=120),
    Budget(rows=200),
    Budget(rows=240, split=0.5),
    Budget(memory="48 kB"),
)
_BUDGETED = (policies.Fifo(), policies.Prob(), policies.MostResults())
_SAMPLED = (policies.PpsCluster(), policies.Sample(), policies.Uniform())


@dataclass(frozen=True, slots=True)
class Join:
    """One join of one stream, and what it gives micro-batch by micro-batch.

    Attributes
    ----------
    arrivals
        Blobs of each micro-batch.
    watermarks_ms
        The watermark in force in each.
    results, counts, states
        Rows in order, counts that say nothing of copies, and the stored
        state: of one run in plain memory, never interrupted.
    """

    spec: JoinSpec
    arrivals: list[list[Blob]]
    watermarks_ms: list[int]
    results: list[pa.Table]
    counts: list[dict[str, float]]
    states: list[dict[int, bytes]]


def make_join(kind: Kind, stream: int, *, other: bool = False) -> Join:
    """One of the three joins; ``other`` has the same spec but another policy."""
    return _made(kind, stream, other and kind != "exact")


@cache
def _made(kind: Kind, stream: int, other: bool) -> Join:
    case = make_stream(stream)
    options = _options(kind, stream, other=other)
    streams = tables(case)
    on = [name for name, _ in key_fields(case.key_kind)]
    schemas = (streams[0][0].schema, streams[0][1].schema)
    names = ("_left", "_right")
    spec = make_spec(schemas, on, window_of(case), TIMES, 1, names).with_shedding(
        shedding_of(**options)
    )
    states: list[dict[int, bytes]] = []
    with patch.object(local_shards, "MemoryBlobs", _Kept):
        run = local.join(
            _noting(streams, states),
            on=on,
            within=window_of(case),
            time=TIMES,
            lateness=(
                timedelta(milliseconds=case.delays_ms[0]),
                timedelta(milliseconds=case.delays_ms[1]),
            ),
            blobs=_BLOBS,
            bucket_seed=bucket_seed(QUERY, SHARD),
            **options,
        )
    if kind == "exact":
        expected = truth(case)
        found = [matches_of(batch.results) for batch in run.batches]
        assert found == expected.matches
        for batch, report in zip(run.batches, expected.reports, strict=True):
            counts = batch.report.counts(spec.names)
            assert {name: counts[name] for name in REPORTED} == report
    delivery = Delivery(_BLOBS)
    return Join(
        spec=spec,
        arrivals=[[blob for _, blob in delivery.deliver(t, spec)] for t in streams],
        watermarks_ms=[batch.report.watermark_ms for batch in run.batches],
        results=[in_order(batch.results) for batch in run.batches],
        counts=[
            without_copies(batch.report.counts(spec.names)) for batch in run.batches
        ],
        states=states,
    )


def in_order(rows: pa.Table) -> pa.Table:
    """Joined rows by the numbers of both rows, which no other pair has."""
    return rows.sort_by([("left_id", "ascending"), ("right_id", "ascending")])


def without_copies(counts: dict[str, float]) -> dict[str, float]:
    """Counts that say nothing of copies."""
    return {name: count for name, count in counts.items() if name not in OF_COPIES}


def _options(kind: Kind, stream: int, *, other: bool) -> dict[str, Any]:
    if kind == "exact":
        return {"budget": None, "keep": None}
    choices: tuple[Any, ...] = _BUDGETED if kind == "budgeted" else _SAMPLED
    keep = choices[stream % len(choices)]
    if other:
        keep = policies.Rand() if kind == "budgeted" else policies.EqCluster(seed=1)
    budget = _BUDGETS[stream // len(choices) % len(_BUDGETS)]
    return {"budget": budget, "keep": keep}


class _Kept(local_shards.MemoryBlobs):
    """The blobs of the run that is under way."""

    latest: _Kept

    def __init__(self) -> None:
        super().__init__()
        _Kept.latest = self


def _noting(
    streams: list[tuple[pa.Table, pa.Table]], states: list[dict[int, bytes]]
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Micro-batches; the state after each is noted when the next is asked for."""
    for number, batch in enumerate(streams):
        if number:
            states.append(dict(_Kept.latest._blobs))
        yield batch
    states.append(dict(_Kept.latest._blobs))
