"""Starts a local run from a request and its first tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from shedjoin.errors import ParameterError
from shedjoin.local.delivery import Delivery
from shedjoin.local.runner import Runner
from shedjoin.local.tables import stream_of
from shedjoin.policies.goals import values_of
from shedjoin.request.spec import Asked, join_spec
from shedjoin.request.streams import kind_of
from shedjoin.spec.capabilities.kinds import Feature
from shedjoin.spec.capabilities.table import check_combination
from shedjoin.spec.importance import by_stream
from shedjoin.spec.multijoin import by_name
from shedjoin.spec.window import Duration, parse_duration


def check_control(control: object) -> None:
    """Refuse messages that do not name their micro-batches, such as a folder."""
    if not isinstance(control, Mapping | None) or not all(
        isinstance(number, int) for number in control or ()
    ):
        raise ParameterError(
            f"control={control!r} does not say with which micro-batches messages come.",
            fix='write control={3: [{"budget": {"rows": 1000}}]}; a folder of messages '
            "is for Spark.",
        )


def lateness_us(lateness: Duration) -> int:
    """How far a watermark stays behind, in microseconds."""
    delay_us = parse_duration(lateness, "lateness")
    if delay_us < 0:
        raise ParameterError(
            f"lateness={lateness!r} is below 0.",
            fix='pass how far rows may come out of order, like "10 seconds".',
        )
    return delay_us


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a local run."""

    lateness: object = "0 seconds"
    restart_every: int = 0
    blobs: int = 1
    shuffle_seed: int = 0
    bucket_seed: int = 0
    collect: bool = True
    steered: bool = False

    def delays_us(self, names: Sequence[str]) -> list[int]:
        """How far the watermark of each stream stays behind its greatest time."""
        given = self.lateness
        if isinstance(given, tuple):
            if len(given) != len(names):
                raise ParameterError(
                    f"lateness has {len(given)} durations, and the join has "
                    f"{len(names)} streams ({', '.join(names)}).",
                    fix='pass one duration for all, like lateness="10 seconds", or '
                    "one for each stream.",
                )
            given = dict(zip(names, given, strict=True))
        each = given if isinstance(given, Mapping) else dict.fromkeys(names, given)
        return [lateness_us(one) for one in by_name("lateness", each, names)]


def started(
    tables: Mapping[str, pa.Table],
    asked: Asked,
    settings: Settings,
    *,
    changing: bool = False,
) -> Runner:
    """Check a request against its first tables, and make the runner for it.

    ``changing`` says whether changes of the relation come with the tables.
    """
    for name, table in tables.items():
        if not isinstance(table, pa.Table):
            raise ParameterError(
                f"the {name} stream is {kind_of(table)}, not a table of pyarrow.",
                fix="pass tables of pyarrow; DataFrames of Spark are joined by "
                "shedjoin.join and shedjoin.multijoin.",
            )
    names, schemas = tuple(tables), [table.schema for table in tables.values()]
    streams = [
        stream_of(schema, name) for name, schema in zip(names, schemas, strict=True)
    ]
    relation = None
    if asked.through is not None:
        rows = asked.through.rows
        relation = stream_of(rows.schema, "relation", is_running=changing)
        schemas.append(rows.schema)
    spec = join_spec(streams, asked, asked.options.shards or 1, relation)
    if settings.steered:
        check_combination(spec.join_kind, [(Feature.CONTROL, "control=")])
    worth, values = [None] * len(names), values_of(asked.keep)
    if values is not None:
        columns = {stream.name: stream.names for stream in streams}
        worth = by_stream(values, columns)
    steered = settings.steered
    delivery = Delivery(settings.blobs, settings.shuffle_seed, worth, steered)
    return Runner(
        *(spec, schemas, settings.delays_us(names), delivery),
        *(settings.restart_every, settings.bucket_seed),
        collect=settings.collect,
    )
