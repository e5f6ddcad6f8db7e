"""Adds the rows of a relation, which may change, to the micro-batches of streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from shedjoin.errors import ParameterError


class Changing(NamedTuple):
    """Tables of the streams, and at the end a table of relation rows.

    ``changing`` says whether the relation may change in later micro-batches.
    """

    tables: list[pa.Table]
    changing: bool


def with_relation_rows(
    batches: Iterable[Sequence[pa.Table]], relation: pa.Table, names: Sequence[str]
) -> Iterator[Changing]:
    """Add the relation to the first micro-batch, and its changes to all of them."""
    streams, new = len(names), relation
    before: bool | None = None
    for tables in batches:
        changing = len(tables) > streams
        whole = len(tables) in (streams, streams + 1)
        if not whole or before not in (None, changing):
            given = ", ".join(names)
            raise ParameterError(
                f"a micro-batch has {len(tables)} tables.",
                fix=f"pass ({given}{',' * (streams == 1)}) in all of them, or "
                f"({given}, changes).",
            )
        for table in (relation, *tables[streams:]):
            if not isinstance(table, pa.Table) or table.schema != relation.schema:
                raise ParameterError(
                    "the relation and its changes have other columns or types, or are "
                    "no tables.",
                    fix="pass tables of pyarrow with the same schema.",
                )
        rows = pa.concat_tables([new, *tables[streams:]])
        yield Changing([*tables[:streams], rows], changing)
        before, new = changing, relation.slice(0, 0)
