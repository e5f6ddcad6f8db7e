"""The specification of a join and of its streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from shedjoin.errors import ColumnError, ParameterError
from shedjoin.spec.capabilities.asked import asked_by
from shedjoin.spec.capabilities.kinds import Feature, JoinKind
from shedjoin.spec.capabilities.table import check_combination
from shedjoin.spec.cells import Cells
from shedjoin.spec.how import LEFT_ALONE, How, preserved
from shedjoin.spec.identity import Identity, identity_of
from shedjoin.spec.keys import OutputColumn
from shedjoin.spec.relation import RelationSpec
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.terms import BandTerm, Term

HASH_COLUMN = "__shedjoin_hash"
"""Column that is added to packed rows whose key does not fit 64 bits."""
IMPORTANCE_COLUMN = "__shedjoin_importance"
"""Column that is added to packed rows of a stream with importance."""
WEIGHT_COLUMN = "_weight"
"""Column of a sampled result: 1 / the probability that it was emitted."""
CLUSTER_COLUMN = "_cluster"
"""Column of a sampled result: the results that were emitted together with it."""
PAIR = 2
"""Number of streams of a join of two."""
ANCHOR = 0
"""Number of the anchor. In a join without a key, each of its rows goes to one shard.
Rows of the other streams are copied to this shard."""
Placement: TypeAlias = Literal["key", "cells", "copies", "relation"]
"""How rows are assigned to shards: by key; by cells of a Band; copied to all shards;
or by the key of the right stream, with copies of rows of the left stream."""


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """One stream: its columns as (name, type), its key columns and its event time.

    Its rows are kept for ``keep_us`` after their own time. In a join of two streams,
    this may be negative: rows of the other stream must then be that much earlier. If
    the stream is the result of another join, its rows have waited in that join. Rows
    that are not late may then lie ``lag_us`` behind the watermark.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    time: str
    keep_us: int
    lag_us: int = 0


@dataclass(frozen=True, slots=True)
class JoinSpec:
    """One join of two or more streams, which are referred to by their numbers.

    Rows with the times t form a result if ``max(t) - t[j]`` is at most ``keep_us`` of
    stream j, for every stream j.

    ``direct`` says that the key is a single column of at most 64 bits. The kernels
    then compare the key itself, and no hash is carried or checked. If streams have no
    key columns, all their rows have the same key.

    With a ``relation``, two rows match if a row of the relation has the keys of both. A
    single stream is joined with the rows of the relation themselves.

    ``terms`` are the other conditions that rows of a result must meet. ``cells`` are
    the cells of the first Band. If ``cells`` is None, all cells have the same width.

    ``how`` says which rows are emitted besides, or in place of, pairs of rows.

    ``lateness_us`` is the longest delay of a watermark behind the greatest time of its
    stream: how far rows may come out of order.
    """

    streams: tuple[StreamSpec, ...]
    shards: int
    direct: bool
    output: tuple[OutputColumn, ...]
    shedding: Shedding | None = None
    terms: tuple[Term, ...] = ()
    cells: Cells | None = None
    relation: RelationSpec | None = None
    lateness_us: int = 0
    how: How = "inner"

    @property
    def preserves(self) -> tuple[bool, ...]:
        """Whether rows of each stream are emitted if they find no partner."""
        if self.how == "inner":
            return (False,) * len(self.streams)
        return preserved(self.how)

    @property
    def left_alone(self) -> bool:
        """Whether results have the columns of the left stream alone."""
        return self.how in LEFT_ALONE

    @property
    def join_kind(self) -> JoinKind:
        """The column of the capability table for this join."""
        if self.relation is not None:
            return JoinKind.THROUGH if len(self.streams) == PAIR else JoinKind.LOOKUP
        if len(self.streams) == PAIR:
            return JoinKind.PREDICATES if self.terms else JoinKind.KEYS
        return JoinKind.SEVERAL_PREDICATES if self.terms else JoinKind.SEVERAL_KEYS

    @property
    def placement(self) -> Placement:
        """How rows are assigned to shards."""
        if self.relation is not None and len(self.streams) == PAIR:
            return "relation"
        if self.streams[ANCHOR].keys:
            return "key"
        banded = any(isinstance(term, BandTerm) for term in self.terms)
        return "cells" if banded else "copies"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the streams."""
        return tuple(stream.name for stream in self.streams)

    @property
    def bounded(self) -> bool:
        """Whether memory is limited and the join is not of two streams by key alone."""
        limits = self.shedding is not None and self.shedding.budget.limits_memory
        return limits and (bool(self.terms) or len(self.streams) > PAIR)

    @property
    def samples(self) -> bool:
        """Whether results carry weights."""
        return self.shedding is not None and self.shedding.policy.samples

    def with_terms(self, terms: tuple[Term, ...], cells: Cells | None) -> JoinSpec:
        """Add predicates, and the cells by which rows are assigned to shards."""
        if not isinstance(cells, Cells | None):
            raise ParameterError(
                f"cells={cells!r} are no cells.",
                fix="pass shedjoin.cells_of(values, band, shards) or Cells([1, 2]).",
            )
        spec = replace(self, terms=terms, cells=cells)
        if cells is not None:
            check_combination(spec.join_kind, [(Feature.CELLS, f"cells={cells!r}")])
        if cells is not None and spec.placement != "cells":
            by = "its key" if spec.placement == "key" else "no Band"
            raise ParameterError(
                f"the join is spread over shards by {by}, not by {cells!r}.",
                fix="leave out cells=; it is for a join by Band without key columns.",
            )
        return spec

    def through(
        self,
        relation: RelationSpec,
        keys: Sequence[tuple[str, ...]],
        *,
        direct: bool,
    ) -> JoinSpec:
        """Add a relation that has the keys of both streams."""
        streams = tuple(
            replace(stream, keys=own)
            for stream, own in zip(self.streams, keys, strict=True)
        )
        return replace(self, streams=streams, direct=direct, relation=relation)

    def with_shedding(self, shedding: Shedding | None) -> JoinSpec:
        """Add how the join sheds. Results of a sample have two more columns."""
        if shedding is not None:
            self.check_shedding(shedding)
        spec = replace(self, shedding=shedding)
        if not spec.samples:
            return spec
        added = (WEIGHT_COLUMN, CLUSTER_COLUMN)
        # Spark ignores case: a column _WEIGHT would make _weight ambiguous.
        taken = [column.name for column in self.output if column.name.lower() in added]
        if taken:
            raise ColumnError(
                f"the result of a sample has a column {taken[0]!r} of its own.",
                fix=f"rename the column {taken[0]!r} of the stream.",
            )
        tags = tuple(OutputColumn(None, name, name) for name in added)
        return replace(spec, output=self.output + tags)

    def check_shedding(self, shedding: Shedding) -> None:
        """Refuse a budget or a policy that this kind of join does not support."""
        if self.how != "inner":
            given = [(Feature.OUTER_KEPT, f"how={self.how!r}")]
            check_combination(self.join_kind, given)
        shedding.budget.check(len(self.streams), self.shards)
        check_combination(self.join_kind, asked_by(shedding))

    @property
    def keeps_us(self) -> tuple[int, ...]:
        """How long residents of each stream can be matched after their own time."""
        return tuple(stream.keep_us for stream in self.streams)

    @property
    def window_us(self) -> int:
        """The longest time for which a row of any stream is kept."""
        return max(0, *self.keeps_us)

    @property
    def lag_us(self) -> int:
        """How far the latest time of a result may lie behind the watermark."""
        return max(stream.lag_us for stream in self.streams)

    def late_us(self, stream: int, watermark_ms: int) -> int:
        """The time up to which rows of a stream are late."""
        return 1000 * watermark_ms - self.streams[stream].lag_us

    def expired_us(self, stream: int, watermark_ms: int) -> int:
        """The time up to which residents of a stream can no longer be matched."""
        others = [own for n, own in enumerate(self.streams) if n != stream]
        waits_us = max(own.lag_us for own in others)
        expired_us = 1000 * watermark_ms - self.streams[stream].keep_us - waits_us
        if self.relation is None or self.relation.fixed:
            return expired_us
        passed_us = 1000 * watermark_ms - self.lag_us
        return min(expired_us, passed_us - self.relation.delay_us)

    def waits_us(self, stream: int) -> int:
        """How long after its own time a row of a stream may still find a partner.

        This is never negative, so the end of the wait is no earlier than the row.
        """
        others = [own for n, own in enumerate(self.streams) if n != stream]
        lag_us = max(own.lag_us for own in others)
        return max(0, self.streams[stream].keep_us + lag_us)

    def all_expired_us(self, watermark_ms: int) -> int:
        """The time up to which residents of no stream can be matched any more."""
        streams = range(len(self.streams))
        return min(self.expired_us(stream, watermark_ms) for stream in streams)

    def fingerprint(self) -> str:
        """Short digest of all that the stored state depends on.

        The names of the result's columns, the budget, the policy and the delay of
        watermarks are left out: they may change between two starts.
        """
        return self.identity().digest

    def identity(self) -> Identity:
        """The digest of ``fingerprint``, with the facts from which it is computed."""
        terms = tuple(term.facts for term in self.terms)
        return identity_of(replace(self, output=(), shedding=None, terms=()), terms)
