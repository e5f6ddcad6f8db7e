"""Turns the streams and the arguments of a call into a checked join."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shedjoin.columns.terms import Streams
from shedjoin.errors import ColumnError, ParameterError
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import Goal, shedding_of
from shedjoin.request.arguments import each_column, waits_us
from shedjoin.request.keys import check_keys
from shedjoin.request.options import DEFAULTS, Options, checked
from shedjoin.request.relations import Relation, check_relation_given, through
from shedjoin.request.streams import Stream
from shedjoin.request.times import check_clocks, event_time
from shedjoin.request.values import check_values
from shedjoin.spec.budget import Budget
from shedjoin.spec.capabilities.kinds import Feature
from shedjoin.spec.capabilities.table import check_combination
from shedjoin.spec.conditions import Conditions, split_on
from shedjoin.spec.how import asked_how, parse_how
from shedjoin.spec.keys import SIDES, check_pair, left_columns, output_columns
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec, StreamSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The arguments of a call, as the user has given them."""

    within: object
    on: object = None
    how: object = "inner"
    budget: Budget | None = None
    keep: Goal | Policy | None = None
    time: object = None
    suffixes: object = None
    options: Options = DEFAULTS
    through: Relation | None = None

    def __post_init__(self) -> None:
        checked(self.options)
        if self.through is not None:
            check_relation_given(self.through, "through")
        self.shedding()  # raises its errors before the first row is read

    @property
    def conditions(self) -> Conditions:
        """Keys and predicates; none if a relation says which keys belong together."""
        return Conditions((), ()) if self.through is not None else split_on(self.on)

    def shedding(self) -> Shedding | None:
        """How the join sheds; None without a budget."""
        return shedding_of(
            self.budget,
            self.keep,
            discipline=self.options.discipline,
            recompute=self.options.recompute,
            seed=self.options.seed,
            by_predicates=bool(self.conditions.predicates),
        )


def join_spec(
    streams: Sequence[Stream],
    asked: Asked,
    shards: int,
    relation: Stream | None = None,
) -> JoinSpec:
    """Check a request against its streams, and specify its join.

    ``relation`` describes the columns of the relation that ``asked`` names.
    """
    shedding, names = asked.shedding(), tuple(stream.name for stream in streams)
    _check_alike(streams)
    waits = waits_us(asked.within, names)
    conditions, keys = asked.conditions, _keys(streams, asked)
    direct = check_keys(streams, keys)
    given: Sequence[str | None] = [None] * len(names)
    if asked.time is not None:
        given = each_column("time", asked.time, names)
    times = [*map(event_time, streams, given)]
    check_clocks(streams, times)
    each = zip(streams, keys, times, waits, strict=True)
    spec = JoinSpec(
        streams=tuple(
            StreamSpec(
                stream.name,
                tuple((column.name, column.type) for column in stream.columns),
                *(own, time, wait_us, stream.lags_us.get(time, 0)),
            )
            for stream, own, time, wait_us in each
        ),
        shards=shards,
        direct=direct,
        output=output_columns(
            [stream.names for stream in streams],
            keys,
            _suffixes(asked.suffixes, names),
            streams[0].fold,
        ),
    )
    known = Streams(names, [stream.schema for stream in streams], streams[0].fold)
    spec = spec.with_terms(known.terms(conditions.predicates), asked.options.cells)
    if asked.through is not None and relation is not None:
        spec = through(spec, streams, asked.on, asked.through, relation)
    check_combination(spec.join_kind, asked_how(asked.how))
    spec = replace(spec, how=parse_how(asked.how))
    if spec.left_alone:
        spec = replace(spec, output=left_columns(spec.output))
    check_combination(spec.join_kind, _asked_of_relation(asked))
    check_values(streams, asked.keep)
    return spec.with_shedding(shedding)


def _asked_of_relation(asked: Asked) -> Iterator[tuple[Feature, str]]:
    """Features that ``Relation(columns=)`` asks of a join, with what the user wrote."""
    if asked.through is None or asked.through.columns is None:
        return
    given = f"Relation(columns={asked.through.columns!r})"
    yield Feature.RELATION_COLUMNS, given
    if asked.budget is not None:
        yield Feature.RELATION_COLUMNS_KEPT, given


def _check_alike(streams: Sequence[Stream]) -> None:
    running = {stream.is_running for stream in streams}
    if len(running) > 1:
        (stream, *_), (table, *_) = (
            [each.name for each in streams if each.is_running is kind]
            for kind in (True, False)
        )
        raise ParameterError(
            f"{stream!r} is a stream and {table!r} is a table.",
            fix="read both with readStream, or both with read.",
        )


def _keys(streams: Sequence[Stream], asked: Asked) -> list[tuple[str, ...]]:
    """Exact names of the key columns of each stream."""
    if asked.through is not None:
        return [()] * len(streams)
    names = [stream.name for stream in streams]
    keys = asked.conditions.stream_keys(names)
    try:
        return [each.resolve(*own) for each, own in zip(streams, keys, strict=True)]
    except ColumnError as error:
        if isinstance(asked.conditions.keys, Mapping):
            raise
        by_name = ", ".join(f'"{name}": ...' for name in names)
        raise ColumnError(
            error.problem,
            fix=f"{error.fix[:-1]}; if the streams call it otherwise, pass "
            f"on={{{by_name}}}.",
        ) from None


def _suffixes(given: object, names: Sequence[str]) -> Sequence[str]:
    if given is None:
        return [f"_{name}" for name in names]
    return check_pair("suffixes", given) if len(names) == len(SIDES) else [*names]
