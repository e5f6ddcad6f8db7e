"""Opens the kind of join that a spec needs."""

from __future__ import annotations

from typing import TypeAlias

from shedjoin.operators.budgeted.join import BudgetedJoin
from shedjoin.operators.exact.join import ExactJoin
from shedjoin.operators.exact.outer import OuterJoin
from shedjoin.operators.frame.join import Join, Opening
from shedjoin.operators.multiway.bounded import BoundedJoin
from shedjoin.operators.multiway.join import MultiwayJoin
from shedjoin.operators.star.alone import RelationJoin
from shedjoin.operators.star.budgeted import BudgetedStarJoin
from shedjoin.operators.star.join import StarJoin
from shedjoin.spec.streams import PAIR, JoinSpec
from shedjoin.state.directory import Directory
from shedjoin.state.payload import Payload

_Operator: TypeAlias = (
    ExactJoin
    | OuterJoin
    | BudgetedJoin
    | MultiwayJoin
    | BoundedJoin
    | StarJoin
    | RelationJoin
)
_OPERATORS: tuple[type[_Operator], ...] = (
    *(ExactJoin, OuterJoin, BudgetedJoin, MultiwayJoin, BoundedJoin),
    *(StarJoin, BudgetedStarJoin, RelationJoin),
)
_KINDS = {operator.kind: operator for operator in _OPERATORS}


def kind_of(spec: JoinSpec) -> str:
    """Name of the kind of join that a spec needs."""
    if spec.relation is not None:
        if len(spec.streams) < PAIR:
            return RelationJoin.kind
        return StarJoin.kind if spec.shedding is None else BudgetedStarJoin.kind
    if spec.bounded:
        return BoundedJoin.kind
    if spec.terms:
        return MultiwayJoin.kind
    if spec.how != "inner":
        return OuterJoin.kind
    return ExactJoin.kind if spec.shedding is None else BudgetedJoin.kind


def holds_nothing(directory: Directory, spec: JoinSpec) -> bool:
    """Whether a stored state is of the needed kind and consists only of a directory."""
    operator = _KINDS[kind_of(spec)]
    return directory.kind == operator.kind and not operator.numbers(directory)


def open_join(opening: Opening) -> Join:
    """Open the join of a shard.

    If another kind of join wrote the stored state, its residents are inserted into a
    new join.
    """
    operator = _KINDS[kind_of(opening.spec)]
    directory = opening.directory
    if directory is None or directory.kind == operator.kind:
        return operator.open(opening)
    former = _KINDS[directory.kind]
    payload = Payload(
        opening.workspace,
        next_id=directory.next_id,
        dropped=former.numbers(directory),
    )
    residents = former.residents(opening.blobs, directory, opening.spec)
    join = operator.adopt(opening, payload, residents)
    join.store.watermark_ms = directory.watermark_ms
    return join
