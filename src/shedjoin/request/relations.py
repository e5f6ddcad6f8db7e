"""Relations as users describe them, and checks of the joins with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from shedjoin.columns.hashing import is_hashed
from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError
from shedjoin.request.keys import is_direct
from shedjoin.request.streams import Stream
from shedjoin.spec.keys import SIDES, Fold, OutputColumn
from shedjoin.spec.multijoin import by_name
from shedjoin.spec.relation import RELATION, RelationSpec, check_relation, parse_delay
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.window import Duration

Columns: TypeAlias = str | Sequence[str]
"""One column, or several."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that says which keys belong together, and when.

    Parameters
    ----------
    rows : DataFrame or pyarrow.Table
        A table, or a stream of changes without a watermark. A table must be the same at
        a restart.
    left, right : str or list of str, optional
        Columns of the relation that equal the keys of the left and of the right stream,
        for ``join(through=)``.
    valid : (str, str), optional
        Columns with the start (inclusive) and end (exclusive) of a row's validity. A
        null means no limit. In a stream of changes, a row changes the end of an earlier
        row if both have the same keys, the same start and the same ``columns``.
    change : (str, str), optional
        Columns of a stream of changes: the kind of the change, ``"insert"`` or
        ``"delete"``, and its time. A deletion ends the rows that started before it and
        have the same keys and the same ``columns``. So if ``columns`` are null in the
        deletion, rows with other values there do not end.
    columns : str or list of str, optional
        Columns of the relation to add to the results. By default a join of two streams
        adds none. A lookup join adds all columns but its keys and those that ``valid``
        and ``change`` name. In a stream of changes, rows that differ in these columns
        are different rows.
    delay : duration, default "0 seconds"
        How far behind the watermark changes may come. Rows of the streams are held for
        this time to wait for relation rows. A change that comes later is counted as
        late. A late insertion still applies to rows that are held. A late deletion does
        not take back any result.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ads = pa.table({"ad": [1], "campaign": [7]})
    >>> Relation(ads, left="ad", right="campaign").delay
    '0 seconds'
    """

    rows: Any
    left: Columns | None = None
    right: Columns | None = None
    valid: tuple[str, str] | None = None
    change: tuple[str, str] | None = None
    columns: Columns | None = None
    delay: Duration = "0 seconds"

    def active(self, relation: Stream) -> RelationSpec:
        """Columns that say when relation rows are active, by their exact names."""
        check_changes(self, relation)
        active = check_relation(relation.names, self.valid, self.change, relation.fold)
        delay_us, fixed = parse_delay(self.delay), not relation.is_running
        active = replace(active, delay_us=delay_us, fixed=fixed)
        return replace(active, told=self._told(relation, active))

    def _told(self, relation: Stream, active: RelationSpec) -> tuple[str, ...]:
        """Exact names of the columns to add to the results; empty if none are named."""
        if self.columns is None:
            return ()
        named = listed("columns=", self.columns, 'pass columns="bid", or a list.')
        found = relation.resolve(*named)
        for name in found:
            if name in (active.begin, active.end, active.change):
                raise ColumnError(
                    f"columns={self.columns!r} names {name!r}, which says when rows of "
                    "the relation are active.",
                    fix="leave it out, or copy it to a column of another name.",
                )
            check_hashed(relation, name)
        return found


def check_relation_given(given: object, argument: str) -> None:
    """Refuse a bare table or DataFrame in place of a ``Relation``."""
    if not isinstance(given, Relation):
        raise ParameterError(
            f"{argument}= is a {type(given).__name__}, not a relation.",
            fix='wrap it: shedjoin.Relation(ads, left="ad", right="campaign") for two '
            "streams, shedjoin.Relation(ads) for a lookup join.",
        )


def check_changes(asked: Relation, relation: Stream) -> None:
    """Refuse changes of a table, and a stream without times or with a watermark."""
    if not relation.is_running:
        if asked.change is not None and asked.valid is None:
            raise ParameterError(
                f"change={asked.change!r} names changes, and the relation is a table.",
                fix="pass a stream of changes; or pass valid=, the columns of the "
                "times from which on and before which rows are active.",
            )
        return
    if asked.valid is None and asked.change is None:
        raise ParameterError(
            "the relation is a stream, and neither change= nor valid= says when its "
            "rows are active.",
            fix='pass change=("change", "at"), the columns that say "insert" or '
            '"delete", and when; or valid=, those of begin and end.',
        )
    if relation.marked:
        raise ParameterError(
            f"the relation has a watermark on {relation.marked[0]!r}: while the "
            "relation does not change, nothing that the join holds would expire.",
            fix="leave out withWatermark of the relation: only that of a stream of "
            "rows counts.",
        )


def check_validity(
    active: RelationSpec, relation: Stream, streams: Sequence[tuple[Stream, str]]
) -> None:
    """Refuse validity times of other types than the event times of the streams."""
    for name in (active.begin, active.end):
        if name is None:
            continue
        column = relation.column(name)
        if not column.is_time:
            raise ColumnTypeError(
                f"{name!r} of the relation is of type {column.type}.",
                fix="cast it to a timestamp.",
            )
        for stream, time in streams:
            own = stream.column(time)
            if (own.arrow.tz is None) != (column.arrow.tz is None):
                raise ColumnTypeError(
                    f"the time {time!r} of the {stream.name} stream is of type "
                    f"{own.type}, {name!r} of the relation of type {column.type}.",
                    fix="cast one of them; both must be timestamps with a time zone, "
                    "or both without.",
                )


def same_columns(
    stream: Stream, names: Sequence[str], relation: Stream, others: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find the keys of a stream, and the columns of a relation that equal them."""
    try:
        own, keys = stream.resolve(*names), relation.resolve(*others)
    except ColumnError as error:
        if tuple(names) != tuple(others):
            raise
        # The same names were looked for on both sides, and one of them has others.
        raise ColumnError(
            error.problem,
            fix=f"{error.fix[:-1]}; if the stream calls it otherwise than the "
            f'relation, pass on={{"{stream.name}": ..., ...}}.',
        ) from None
    if len(own) != len(keys):
        raise ParameterError(
            f"{list(own)} of the {stream.name} stream and {list(keys)} of the relation "
            "are not the same number of columns.",
            fix="name a column of the relation for each column of the stream.",
        )
    for name, other in zip(own, keys, strict=True):
        column, same = stream.column(name), relation.column(other)
        if column.type != same.type or not column.is_key:
            raise ColumnTypeError(
                f"column {name!r} of the {stream.name} stream is of type "
                f"{column.type}, column {other!r} of the relation of type {same.type}.",
                fix="cast one of them; both must be of one type that can be hashed.",
            )
    return own, keys


def through(
    spec: JoinSpec,
    streams: Sequence[Stream],
    on: object,
    asked: Relation,
    relation: Stream,
) -> JoinSpec:
    """Specify the join of two streams through a relation."""
    active = asked.active(relation)
    times = [own.time for own in spec.streams]
    check_validity(active, relation, [*zip(streams, times, strict=True)])
    related = [
        listed(f"{side}=", each, _OWN_COLUMNS)
        for side, each in zip(SIDES, (asked.left, asked.right), strict=True)
    ]
    if on is None:
        given = related
    else:
        each = on if isinstance(on, Mapping) else dict.fromkeys(SIDES, on)
        given = [listed("on=", one, _OWN_COLUMNS) for one in by_name("on", each, SIDES)]
    found = [
        same_columns(stream, names, relation, others)
        for stream, names, others in zip(streams, given, related, strict=True)
    ]
    own, keys = zip(*found, strict=True)
    active = replace(active, keys=(keys[0], keys[1]))
    check_new(active.told, [column.name for column in spec.output], relation.fold)
    told = tuple(OutputColumn(RELATION, name, name) for name in active.told)
    spec = replace(spec, output=spec.output + told)
    used = [relation.column(name) for name in active.used_columns]
    active = replace(active, columns=tuple((each.name, each.type) for each in used))
    direct = all(
        is_direct([stream.column(name) for name in names])
        for stream, names in zip(streams, own, strict=True)
    )
    return spec.through(active, own, direct=direct)


_OWN_COLUMNS = (
    'pass shedjoin.Relation(ads, left="ad", right="campaign"), the columns of the '
    "relation that equal the keys of the left and of the right stream; and "
    'on={"left": "ad_id", "right": ...} if these are called otherwise.'
)


def check_hashed(relation: Stream, name: str) -> None:
    """Refuse a column that cannot be hashed: relation rows are compared by hashes."""
    column = relation.column(name)
    if not is_hashed(column.arrow):
        raise ColumnTypeError(
            f"column {name!r} of the relation is of type {column.type}, by which its "
            "rows cannot be told apart.",
            fix=f'leave it out, or give it as text, e.g. F.to_json("{name}").',
        )


def check_new(added: Sequence[str], taken: Sequence[str], fold: Fold) -> None:
    """Refuse columns of a relation whose names the result already has."""
    known = [*map(fold, taken)]
    for name in added:
        if fold(name) in known:
            raise ColumnError(
                f"the result would have several columns {name!r}.",
                fix="rename that of the relation, e.g. with "
                f'withColumnRenamed("{name}", "relation_{name}"), or leave it out.',
            )
        known.append(fold(name))


def listed(argument: str, columns: object, fix: str) -> tuple[str, ...]:
    """Column names as a tuple, even if only one name is given."""
    names = (columns,) if isinstance(columns, str) else columns
    if isinstance(names, Sequence) and names:
        found = tuple(names)
        if all(isinstance(name, str) for name in found):
            return found
    what = "columns" if argument == "columns=" else "key columns"
    raise ParameterError(f"{argument}{columns!r} names no {what}.", fix=fix)
